import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { listPorts, requireFreePorts, stackPorts } from "./ports.ts";

describe("stackPorts", () => {
  test("adds the offset to every port, and none is given twice", () => {
    const base = listPorts(stackPorts(0)).map(({ port }) => port);
    const moved = listPorts(stackPorts(100)).map(({ port }) => port);
    expect(moved).toEqual(base.map((port) => port + 100));
    expect(new Set(base).size).toBe(base.length);
  });

  test("keeps the largest offset within the ports there are", () => {
    const highest = Math.max(...listPorts(stackPorts(50_000)).map(({ port }) => port));
    expect(highest).toBeLessThan(65_536);
  });
});

describe("requireFreePorts", () => {
  test("names every busy port, who holds it, and how to move", async () => {
    const servers = [createServer(), createServer()];
    for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
    const [first, second] = servers.map((server) => (server.address() as AddressInfo).port);
    try {
      const wanted = [
        { name: "REST", port: first ?? 0 },
        { name: "NATS", port: second ?? 0 },
      ];
      const refused = requireFreePorts(wanted);
      await expect(refused).rejects.toMatchObject({ name: "LocalError" });
      await expect(refused).rejects.toThrow(`${first} (REST`);
      await expect(refused).rejects.toThrow(`${second} (NATS`);
      await expect(refused).rejects.toThrow("LAPSE_LOCAL__PORT_OFFSET=");
      if (process.platform === "linux") {
        await expect(refused).rejects.toThrow(`held by pid ${process.pid}`);
      }
    } finally {
      for (const server of servers) server.close();
    }
  });

  test("passes when all are free", async () => {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    await once(server.close(), "close");
    await expect(requireFreePorts([{ name: "REST", port }])).resolves.toBeUndefined();
  });
});
