import { setTimeout as delay } from 'node:timers/promises'
import { exitCodes } from '../../../adapters/cli/terminal/exit-codes.js'
import { random } from '../../campaigns/parser.js'
import { type CliResult, runCli } from '../run-cli.js'
import { type ArgumentsLog, enterSandbox, type Kind, KINDS, openLogs } from './logs.js'
import { type CommandLine, randomArguments } from './random-arguments.js'

/* Runs random command lines, and checks the rules for every command line. */

const HANGS_AFTER_MS = 60_000
const MAX_STDERR = 5000

const EXITS: ReadonlySet<number> = new Set(Object.values(exitCodes).map(([code]) => code))

/** Texts that only an internal error prints. The generator never makes them. */
const INTERNAL =
  /\n\s+at |\b(?:Type|Reference|Range|Syntax)Error\b|\bundefined\b|\[object |node:internal|Cannot read|is not a function|ERR_[A-Z]/

// Control characters, except line breaks, tabs, and the sequences of styles, progress and questions.
const CONTROLS =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B\u000C\u000E-\u001A\u001C-\u001F\u007F\u202E]|\u001B(?!\[[\d;]*[mKGJ])/

const WRITING = new Set(
  'import migrate rebuild clean pause resume replay redrive discard test'.split(' '),
)

const isOutput = (text: string): boolean => /^(?:-o|--out(?:=|$))/.test(text)
/** `import` creates a log, `migrate` makes one of an empty database, `export` and `keygen` write their output. */
const mayWriteFiles = (args: readonly string[]): boolean =>
  args.includes('import') ||
  args.includes('migrate') ||
  ((args.includes('export') || args.includes('keygen')) && args.some(isOutput))

function* faultsOfOutput(line: CommandLine, result: CliResult): Generator<string, void, void> {
  const { args, isJson, options } = line
  const { exit, stdout, stderr } = result
  if (!EXITS.has(exit)) yield `exit code ${exit}`
  if (INTERNAL.test(stderr)) yield 'internal text on stderr'
  if (stderr.length > MAX_STDERR) yield `${stderr.length} characters on stderr`
  if (CONTROLS.test(stderr)) yield 'control characters on stderr'
  if (
    !options.terminal &&
    !args.includes('export') &&
    CONTROLS.test(stdout.replaceAll('\u202E', ''))
  )
    yield 'control characters on stdout'
  if (exit === 2 && stdout !== '') yield 'exit code 2, but output on stdout'
  if (exit >= 2 && exit <= 4 && stderr === '') yield `exit code ${exit} without a message`
  if (isJson && !options.terminal)
    for (const text of stderr.split('\n').filter(Boolean))
      if (!isJsonObject(text)) yield `--json, but not JSON on stderr: ${text.slice(0, 200)}`
}

function isJsonObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

/** Runs the command line. Interrupts a command without an end. */
async function runLine({ args, options, interruptMs }: CommandLine): Promise<CliResult | 'hangs'> {
  const signal = interruptMs === undefined ? {} : { signal: AbortSignal.timeout(interruptMs) }
  const watch = new AbortController()
  const late = delay(HANGS_AFTER_MS, 'hangs' as const, { signal: watch.signal })
  late.catch(() => undefined)
  const result = await Promise.race([runCli(args, { ...options, ...signal }), late])
  watch.abort()
  return result
}

export interface ArgumentFigures {
  readonly lines: number
  /** The number of command lines with each exit code, by the kind of the log. */
  readonly exits: Readonly<Record<Kind, Record<number, number>>>
  /** Command lines in a second, by the kind of the log. */
  readonly rates: Readonly<Record<Kind, number>>
}

export interface ArgumentsRun {
  readonly seed: number
  readonly from: number
  readonly rounds: number
  readonly postgresUrl: string
  failed(what: string): void
}

/** Kinds of logs. Of ten command lines six use a file, and two use each of the other kinds. */
const kindOf = (round: number): Kind =>
  (['postgres', 'http'] as const)[(round % 10) - 8] ?? 'sqlite'

async function checkLine(
  log: ArgumentsLog,
  line: CommandLine,
  changes: () => readonly string[],
): Promise<{ exit: number; faults: readonly string[] }> {
  const { args } = line
  const isWriting = args.some((text) => WRITING.has(text))
  const before = await log.fingerprints()
  const countBefore = isWriting ? await log.count() : 0
  const result = await runLine(line)
  if (result === 'hangs') return { exit: -1, faults: ['it hangs'] }
  const faults = [...faultsOfOutput(line, result)]
  const after = await log.fingerprints()
  const changed = Object.keys(after).filter((name) => after[name] !== before[name])
  const isChanged = changed.length > 0
  if (isChanged && !isWriting) faults.push(`the log was changed: ${changed.join(', ')}`)
  if (isChanged && !args.includes('--yes') && (await log.count()) < countBefore)
    faults.push('events were removed without --yes')
  const files = changes()
  if (files.length > 0 && !mayWriteFiles(args))
    faults.push(`files were changed: ${files.join(', ')}`)
  if (files.length > 0 && [2, 3, 4].includes(result.exit) && !args.includes('import'))
    faults.push(`exit code ${result.exit}, but files were changed: ${files.join(', ')}`)
  if (isChanged && args.includes('clean')) await log.recordDebug()
  const shown = JSON.stringify(result).slice(0, 600)
  return { exit: result.exit, faults: faults.map((fault) => `${fault}: ${shown}`) }
}

export async function checkArguments(run: ArgumentsRun): Promise<ArgumentFigures> {
  const { seed, from, rounds, postgresUrl, failed } = run
  const sandbox = enterSandbox()
  const logs = await openLogs(KINDS, postgresUrl)
  const exits: Record<Kind, Record<number, number>> = { sqlite: {}, postgres: {}, http: {} }
  const seconds: Record<Kind, number> = { sqlite: 0, postgres: 0, http: 0 }
  try {
    sandbox.changes()
    for (let round = from; round < rounds; round++) {
      const log = logs.find(({ kind }) => kind === kindOf(round))!
      const line = randomArguments(random(seed + round), log)
      const start = performance.now()
      const { exit, faults } = await checkLine(log, line, () => sandbox.changes())
      for (const fault of faults)
        failed(`round ${round}: ${JSON.stringify(line).slice(0, 1500)}: ${fault}`)
      exits[log.kind][exit] = (exits[log.kind][exit] ?? 0) + 1
      seconds[log.kind] += (performance.now() - start) / 1000
      if (exit === -1) break
    }
  } finally {
    for (const log of logs) await log.close()
    sandbox.remove()
  }
  const rateOf = (kind: Kind): number =>
    Math.round(Object.values(exits[kind]).reduce((sum, count) => sum + count, 0) / seconds[kind])
  const rates = { sqlite: rateOf('sqlite'), postgres: rateOf('postgres'), http: rateOf('http') }
  return { lines: rounds - from, exits, rates }
}
