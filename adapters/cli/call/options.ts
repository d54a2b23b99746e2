import type { TargetKind } from '../log/target.js'
import type { Argument, Command, Option } from './command.js'

/** The option of commands that read the ledger. */
export const keyOption: Option = {
  flags: '--key <vkey>',
  description: 'the verifier key of the ledger. Without it, the one of --config',
}

/** The options of every command on a log. */
const LOG_OPTIONS: readonly Option[] = [
  {
    flags: '--config <module>',
    description: 'a module whose default export has options of AuditLog',
  },
  { flags: '--schema <name>', description: 'the schema of a log on Postgres' },
]

/** The option of every command. */
const JSON_OPTION: Option = { flags: '--json', description: 'print lines of JSON, errors too' }

const LOGS: Readonly<Record<TargetKind, string>> = {
  sqlite: 'the path of a SQLite file',
  postgres: 'postgres://…',
  http: 'the http(s)://… address of a feed',
}

/** The argument for a log of one of these kinds. */
const logArgument = (targets: readonly TargetKind[]): Argument => ({
  name: 'log',
  description: `${targets.map((target) => LOGS[target]).join(', or ')}; not given if DAYBOOK_LOG is set`,
})

/** The options of a command, followed by the options of all commands. */
export const optionsOf = ({ options, targets }: Command): readonly Option[] => [
  ...options,
  ...(targets.length > 0 ? LOG_OPTIONS : []),
  JSON_OPTION,
]

/** The arguments of a command in the order of the command line: the log first, if it works on one. */
export const argumentsOf = (command: Command): readonly Argument[] => [
  ...(command.targets.length > 0 ? [logArgument(command.targets)] : []),
  ...command.arguments,
]

/** The name of an argument in a usage line. */
export const argumentText = ({ name, required, variadic }: Argument): string => {
  const text = variadic ? `${name}...` : name
  return required ? `<${text}>` : `[${text}]`
}

export interface Variable {
  readonly name: string
  readonly description: string
}

/** The environment variables that commands read. */
export const VARIABLES: readonly Variable[] = [
  { name: 'DAYBOOK_LOG', description: 'the log; commands then have no argument for it' },
  { name: 'DAYBOOK_CONFIG', description: 'the module of --config' },
  { name: 'DAYBOOK_USER', description: 'the user of a feed' },
  { name: 'DAYBOOK_PASSWORD', description: 'the password of this user' },
  { name: 'DAYBOOK_TOKEN', description: 'the bearer token of a feed, instead of a user' },
  { name: 'NO_COLOR', description: 'no colours, if it is not empty' },
  { name: 'FORCE_COLOR', description: 'colours in a pipe too; 0 turns them off' },
]
