import type { LogConfig, OpenLog, OpenOptions } from '../log/log.js'
import type { Target, TargetKind } from '../log/target.js'
import type { Exit } from '../terminal/exit-codes.js'
import type { Terminal } from '../terminal/terminal.js'

export interface Argument {
  /** The name in the usage: `query`. */
  readonly name: string
  readonly description: string
  readonly required?: boolean
  /** Takes all arguments that follow. */
  readonly variadic?: boolean
}

export interface Option {
  /** The name and the value: `--limit <n>`, or `--yes`. A short form may come first: `-o, --out <file>`. */
  readonly flags: string
  readonly description: string
  /** May be repeated. The command gets a list. */
  readonly repeatable?: boolean
  readonly choices?: readonly string[]
  /** The value without the option, as the user would write it. */
  readonly default?: string
  /** Reads the text of the value. The message of an error completes a sentence: `must be a whole number`. */
  readonly read?: (text: string) => unknown
}

/** Arguments of one run of a command. */
export interface Call {
  /** The values of the arguments by their names. A variadic argument has a list. */
  readonly arguments: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The values of the options by their long names in camel case, such as `dryRun`. */
  readonly options: Readonly<Record<string, unknown>>
  readonly terminal: Terminal
  /** The address of the log. A command that works on none must not read it. */
  readonly target: Target
  /** The options of `AuditLog` that the module of `--config` exports. */
  readonly config: LogConfig | undefined
  /** Opens the log for reading. It is closed when the command ends. */
  readonly openLog: (options?: Partial<Omit<OpenOptions, 'config'>>) => Promise<OpenLog>
}

/** The code of a command, loaded when the command runs. Resolves to its exit. @default done */
export interface CommandModule {
  run(call: Call): Promise<Exit | void>
}

/** A command as data. The arguments, the help and the documentation are made from it. */
export interface Command {
  /** `list`, or `subscriptions pause`. */
  readonly name: string
  /** One line. */
  readonly summary: string
  /** Paragraphs for the help and the documentation. */
  readonly description?: string
  readonly arguments: readonly Argument[]
  readonly options: readonly Option[]
  /** The kinds of logs that the command works on. None if it needs no log. */
  readonly targets: readonly TargetKind[]
  readonly examples: readonly { readonly run: string; readonly says: string }[]
  readonly load: () => Promise<CommandModule>
}
