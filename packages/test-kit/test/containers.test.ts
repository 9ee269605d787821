import { describe, expect, test } from "@jest/globals";
import { natsAnswers, until } from "@lapse/local";
import { controlContainer, hasImage, startContainer } from "../src/containers.ts";

const image = "nats:2";
const here = await hasImage(image);
const withEngine = here ? test : test.skip;
const why = here ? "" : ` (not run: no container engine with ${image} on this machine)`;

describe("a container for tests", () => {
  withEngine(`answers at the same port after a stop and after a kill${why}`, async () => {
    const { id, hostPort } = await startContainer({ image, port: 4222, command: ["-js"] });
    const answers = () => until(() => natsAnswers(hostPort), { timeoutMs: 20_000 });
    expect(await answers()).toBe(true);
    for (const action of ["stop", "kill"] as const) {
      await controlContainer(id, action);
      expect(await natsAnswers(hostPort)).toBe(false);
      await controlContainer(id, "start");
      expect(await answers()).toBe(true);
    }
  });

  test("is not looked for further where the image is not there", async () => {
    expect(await hasImage("lapse.invalid/absent:1")).toBe(false);
  });
});
