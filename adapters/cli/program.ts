import {
  Argument as ProgramArgument,
  Command as Program,
  CommanderError,
  InvalidArgumentError,
  Option,
} from 'commander'
import { nearest } from '../../src/event/nearest.js'
import { loadConfig } from './call/config.js'
import type { Call, Command, Option as CommandOption } from './call/command.js'
import { argumentsOf, argumentText, optionsOf, VARIABLES } from './call/options.js'
import type { OpenLog } from './log/log.js'
import { openLog } from './log/open-log.js'
import { readTarget, type Target } from './log/target.js'
import { reportError } from './report-error.js'
import {
  CommandError,
  type Exit,
  exitCodes,
  exitOf,
  SIGNALS,
  usageError,
} from './terminal/exit-codes.js'
import { flush, OUTPUT_CLOSED, type Terminal } from './terminal/terminal.js'
import { readVersion } from './version.js'

/** Reads the value of an option that has choices. */
function choiceReader(name: string, choices: readonly string[]): (text: string) => string {
  return (text) => {
    if (choices.includes(text)) return text
    throw usageError(`${name} ${text}: must be ${choices.join(', ')}`, nearest(text, choices))
  }
}

function readerOf({ flags, choices, read }: CommandOption): (text: string) => unknown {
  if (choices) return choiceReader(flags.split(' ')[0]!, choices)
  return (text) => {
    if (!read) return text
    try {
      return read(text)
    } catch (error) {
      if (error instanceof CommandError) throw error
      throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
    }
  }
}

function programOption(option: CommandOption): Option {
  const made = new Option(option.flags, option.description)
  if (option.default !== undefined) made.default(option.default)
  if (option.choices) made.choices(option.choices)
  if (!option.flags.includes('<')) return made
  const read = readerOf(option)
  return made.argParser<unknown>((text, earlier) =>
    option.repeatable ? [...((earlier as unknown[] | undefined) ?? []), read(text)] : read(text),
  )
}

/**
 * Takes the log from DAYBOOK_LOG, or from the first argument if the variable is empty, for a command on a log. Then names
 * the other arguments.
 */
function readArguments(command: Command, given: readonly string[], env: Terminal['env']) {
  const rest = [...given]
  const log = command.targets.length > 0 ? env['DAYBOOK_LOG'] || rest.shift() : undefined
  const values: Record<string, string | readonly string[] | undefined> = {}
  for (const argument of command.arguments) {
    const value = argument.variadic ? rest.splice(0) : rest.shift()
    if (argument.required && (value === undefined || value.length === 0))
      throw usageError(`the argument ${argument.name} is missing`)
    values[argument.name] = value
  }
  if (rest.length > 0) throw usageError(`${rest[0]}: too many arguments for ${command.name}`)
  return { log, values }
}

function targetOf(command: Command, log: string | undefined, schema: string | undefined): Target {
  if (log === undefined)
    throw usageError(
      `${command.name} needs a log: give the path of a SQLite file, postgres://… or http(s)://…, or set DAYBOOK_LOG`,
    )
  const target = readTarget(log, schema === undefined ? {} : { schema })
  if (command.targets.includes(target.kind)) return target
  throw usageError(
    `${command.name} works on ${command.targets.join(' and ')}, not on ${target.kind}`,
  )
}

/** Runs a command with the arguments that commander has separated. */
async function runCommand(
  command: Command,
  given: readonly string[],
  options: Call['options'],
  terminal: Terminal,
): Promise<Exit> {
  const { log, values } = readArguments(command, given, terminal.env)
  const schema = options['schema'] as string | undefined
  const target = command.targets.length > 0 ? targetOf(command, log, schema) : undefined
  const ownTarget = (): Target => {
    if (target) return target
    throw new Error(`${command.name} works on no log`)
  }
  const configFile =
    (options['config'] as string | undefined) ?? (terminal.env['DAYBOOK_CONFIG'] || undefined)
  const takesConfig = optionsOf(command).some(({ flags }) => flags.startsWith('--config '))
  const config = configFile === undefined || !takesConfig ? undefined : await loadConfig(configFile)
  const conceal = options['conceal'] as readonly string[] | undefined
  if (conceal && target?.kind === 'http')
    throw usageError('--conceal: the server of the feed chooses what its users see')
  const opened: OpenLog[] = []
  const call: Call = {
    arguments: values,
    options,
    terminal,
    get target() {
      return ownTarget()
    },
    config,
    async openLog(options = {}) {
      const given = { readOnly: true, ...options, conceal, config }
      const one = await openLog(ownTarget(), given, terminal)
      opened.push(one)
      return one
    },
  }
  try {
    const module = await command.load()
    return (await module.run(call)) ?? 'done'
  } finally {
    await Promise.all(opened.map((one) => one.close()))
  }
}

interface Outcome {
  exit: Exit
}

function addCommand(parent: Program, command: Command, terminal: Terminal, outcome: Outcome): void {
  const [name, sub] = command.name.split(' ') as [string, string?]
  const group =
    sub === undefined
      ? parent
      : (parent.commands.find((one) => one.name() === name) ??
        parent.command(name).summary(`see daybook ${name} --help`))
  const made = group.command(sub ?? name).summary(command.summary)
  made.description(command.description ?? command.summary)
  // `readArguments` assigns the texts to arguments, because the log may come from the environment.
  made
    .usage(['[options]', ...argumentsOf(command).map(argumentText)].join(' '))
    .argument('[arguments...]')
  made.configureHelp({
    visibleArguments: () =>
      argumentsOf(command).map((one) => new ProgramArgument(argumentText(one), one.description)),
  })
  made.addHelpText(
    'after',
    command.examples.map(({ run, says }) => `\n${says}:\n  ${run}`).join('\n'),
  )
  for (const option of optionsOf(command)) made.addOption(programOption(option))
  made.action(async (given: readonly string[], options: Call['options']) => {
    outcome.exit = await runCommand(command, given, options, terminal)
  })
}

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`).join('\n')
}

const HELP_AFTER = `
Environment:
${columns(VARIABLES.map(({ name, description }) => [name, description]))}

Exit codes:
${columns(Object.values(exitCodes).map(([code, meaning]) => [String(code), meaning]))}`

/** The program with all commands. `outcome` gets the exit of the command that runs. */
function createProgram(
  commands: readonly Command[],
  terminal: Terminal,
  outcome: Outcome,
): Program {
  const program = new Program('daybook')
  program.description('Works with an audit log from the command line.')
  program.version(readVersion(), '-V, --version', 'print the version')
  program.addHelpText('after', HELP_AFTER)
  program.configureHelp({ subcommandTerm: (command) => command.name() })
  program.exitOverride().configureOutput({
    writeOut: (text) => terminal.stdout.write(text),
    // Errors are printed by `reportError`.
    writeErr: () => {},
    getOutHelpWidth: () => terminal.stdout.columns ?? 80,
  })
  for (const command of commands) addCommand(program, command, terminal, outcome)
  return program
}

/** Runs the command line, and resolves to the exit code. Never rejects. */
export async function runProgram(
  commands: readonly Command[],
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { signal, stdout } = terminal
  const outcome: Outcome = { exit: 'done' }
  const report = (error: unknown): number => reportError(error, args.includes('--json'), terminal)
  try {
    await createProgram(commands, terminal, outcome).parseAsync(args, { from: 'user' })
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0
    const isInterrupted = signal.aborted || exitOf(error) === 'interrupted'
    if (!isHelp && !isInterrupted) return report(error)
    if (isInterrupted) outcome.exit = 'interrupted'
  }
  // The last output may fail after the command.
  await flush(stdout)
  const reason: unknown = signal.reason
  if (reason instanceof CommandError) return report(reason)
  // A reader of stdout that has seen enough is no failure.
  if (reason === OUTPUT_CLOSED) return 0
  const exit = signal.aborted
    ? (Object.values(SIGNALS).find((one) => one === reason) ?? 'interrupted')
    : outcome.exit
  return exitCodes[exit][0]
}
