import { Argument, Command } from "@commander-js/extra-typings";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** Prints a completion script made from the command tree itself, so that it cannot fall behind. */
export function completionCommand(program: () => unknown): Command {
  return new Command("completion")
    .description("print a completion script, e.g. source <(lapse completion bash)")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .action((shell) => {
      process.stdout.write(scriptFor(shell, wordsOf(program() as Command)));
    }) as unknown as Command;
}

/** What can follow each command path: its subcommands and options. */
function wordsOf(command: Command, path = "lapse"): ReadonlyMap<string, readonly string[]> {
  const children = command.commands as readonly Command[];
  const options = command.options.map((option) => option.long ?? "").filter(Boolean);
  const words = new Map<string, readonly string[]>([
    [path, [...children.map((child) => child.name()), ...options]],
  ]);
  for (const child of children) {
    for (const [key, value] of wordsOf(child, `${path} ${child.name()}`)) words.set(key, value);
  }
  return words;
}

function scriptFor(shell: (typeof SHELLS)[number], words: ReadonlyMap<string, readonly string[]>) {
  if (shell === "fish") return fishScript(words);
  const bash = bashScript(words);
  return shell === "bash" ? bash : `autoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

function bashScript(words: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...words].map(([path, next]) => `    "${path}") next="${next.join(" ")}" ;;`);
  return `_lapse() {
  local path="lapse" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) [[ " $(_lapse_words "$path") " == *" $word "* ]] && path="$path $word" ;; esac
  done
  COMPREPLY=($(compgen -W "$(_lapse_words "$path")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
_lapse_words() {
  local next=""
  case "$1" in
${cases.join("\n")}
  esac
  echo "$next"
}
complete -F _lapse lapse
`;
}

function fishScript(words: ReadonlyMap<string, readonly string[]>): string {
  const lines = [...words].flatMap(([path, next]) => {
    const seen = path.split(" ").slice(1);
    const condition = seen.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    return next.map((word) => {
      const when = condition ? ` -n '${condition}'` : "";
      return word.startsWith("--")
        ? `complete -c lapse${when} -l ${word.slice(2)}`
        : `complete -c lapse -f${when} -a ${word}`;
    });
  });
  return `${lines.join("\n")}\n`;
}
