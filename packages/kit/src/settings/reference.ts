import { SETTINGS } from "./catalogue.ts";
import { FILE_SUFFIX, NAMED_SETTINGS, type NamedSetting } from "./names.ts";

const HEAD = `# Configuration

Settings are environment variables, read once at the start. Every service may be given the same ones: it
takes what it needs. All faults are reported together and nothing starts with one; a \`LAPSE_\` variable that is
not listed here is refused. An empty variable counts as not given.

Where "file" is marked, the value may be in a file instead, named by the variable with \`${FILE_SUFFIX}\` added. Secrets
are never shown in logs or messages.
`;

const TITLES: Record<string, string> = { env: "General", nats: "NATS", otel: "OpenTelemetry" };

/** `docs/reference/configuration.md`: every setting with its default, what is allowed and what it is for. */
export function settingsReference(): string {
  const sections = Object.keys(SETTINGS).map((section) => {
    const rows = NAMED_SETTINGS.filter(({ path }) => path[0] === section).map(row);
    return [
      `## ${TITLES[section] ?? title(section)}`,
      "",
      "| Variable | Default | Allowed | Meaning |",
      "|---|---|---|---|",
      ...rows,
      "",
    ].join("\n");
  });
  return [HEAD, ...sections].join("\n");
}

function row({ name, setting }: NamedSetting): string {
  const marks = [setting.secret && "secret", setting.fromFile && "file"].filter(Boolean).join(", ");
  const fallback = setting.fallback === undefined ? "–" : `\`${setting.fallback}\``;
  const allowed = marks ? `${setting.kind.allowed} (${marks})` : setting.kind.allowed;
  return `| \`${name}\` | ${fallback} | ${allowed} | ${setting.doc} |`;
}

const title = (section: string): string => {
  const words = section.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};
