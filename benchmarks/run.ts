/*
 * Runs benchmarks: `npm run bench -- --help` lists the suites and their options.
 *
 * Without suites, all suites that have goals run and their results go to results.md.
 *
 * Builds the package first, and installs the peers where a suite needs them. Files go to the system's
 * folder for temporary files (TMPDIR), which should be on a disk and have room for 3 GB, or 30 GB with
 * `--size 10m`.
 */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Option, readValues, UsageError } from './harness/options.js'
import {
  goalsMet,
  type Row,
  type Section,
  tablesOf,
  writeReport,
  writeSection,
} from './harness/results.js'
import { withTempFolder } from './harness/temp.js'
import { killWorkers } from './harness/workers.js'
import { SUITES } from './suites/index.js'

const ROOT = path.join(import.meta.dirname, '..')

const goalSuites = Object.keys(SUITES).filter((name) => SUITES[name]!.kind === 'goals')

/** Options that do not belong to a suite. */
const COMMON = {
  help: { type: 'boolean', help: '--help', description: 'print this help' },
  keep: {
    type: 'string',
    help: '--keep <folder>',
    description: 'folder for SQLite logs, which stay there for the next run',
  },
  write: {
    type: 'boolean',
    help: '--write',
    description: 'write the sections of the suites into results.md',
  },
  quick: {
    type: 'boolean',
    help: '--quick',
    description: 'run most suites with goals in under five minutes, without writing results',
  },
} as const

/** Options of the suites in a quick run. */
const QUICK: Readonly<Record<string, string>> = { size: '100k', rounds: '1', seconds: '1' }
/** Suites that take minutes at that size. */
const QUICK_SIZES: Readonly<Record<string, string>> = {
  'postgres-queries': '10k',
  deliveries: '10k',
}

function optionHelp(
  name: string,
  { hint, description, default: byDefault }: Option<unknown>,
): string {
  return `  ${`--${name} ${hint}`.padEnd(28)} ${description} (default ${String(byDefault)})`
}

function help(): string {
  const suiteHelp = (name: string): string[] => [
    `${name.padEnd(18)}${SUITES[name]!.summary}`,
    ...Object.entries(SUITES[name]!.options).map(([option, spec]) => optionHelp(option, spec)),
  ]
  const common = Object.values(COMMON).map(
    (option) => `  ${option.help.padEnd(28)} ${option.description}`,
  )
  const others = Object.keys(SUITES).filter((name) => !goalSuites.includes(name))
  return [
    'Usage: npm run bench -- [suites] [options]',
    '',
    'Without suites, runs all suites with goals and writes results.md. With suites, prints their results.',
    'Both list the goals that were missed at the end.',
    '',
    'Options:',
    ...common,
    '',
    'Suites with goals:',
    ...goalSuites.flatMap(suiteHelp),
    '',
    'Other suites:',
    ...others.flatMap(suiteHelp),
  ].join('\n')
}

interface Command {
  readonly help: boolean
  /** All suites with goals are run for the report if no suite is named. */
  readonly isReport: boolean
  readonly suites: readonly string[]
  readonly given: Readonly<Record<string, string>>
  /** Suites with another size than the given one. */
  readonly sizes: Readonly<Record<string, string>>
  readonly keep: string | undefined
  readonly write: boolean
}

const list = (names: Iterable<string>): string => [...names].join(', ')

/** Refuses suites and options that do not exist. */
function readCommand(args: readonly string[]): Command {
  const suiteOptions = Object.values(SUITES).flatMap(({ options }) => Object.keys(options))
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: {
      ...Object.fromEntries(suiteOptions.map((name) => [name, { type: 'string' as const }])),
      ...Object.fromEntries(Object.entries(COMMON).map(([name, { type }]) => [name, { type }])),
    },
  })
  const named = positionals.filter((name) => Object.hasOwn(SUITES, name))
  const isReport = positionals.length === 0
  const suites = isReport
    ? goalSuites.filter((name) => !(values['quick'] && SUITES[name]!.isLong))
    : named
  const allowed = new Set([
    ...suites.flatMap((name) => Object.keys(SUITES[name]!.options)),
    ...Object.keys(COMMON).filter((name) => name !== (isReport ? 'write' : 'quick')),
  ])
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    if (!allowed.has(token.name))
      throw new UsageError(
        `unknown option --${token.name}; allowed here: ${list([...allowed].map((name) => `--${name}`))}`,
      )
    const takesValue = !['help', 'write', 'quick'].includes(token.name)
    if (takesValue && token.value === undefined)
      throw new UsageError(`--${token.name} needs a value`)
  }
  const unknown = positionals.find((name) => !named.includes(name))
  if (unknown !== undefined)
    throw new UsageError(`unknown suite ${unknown}; the suites are ${list(Object.keys(SUITES))}`)
  const { help = false, keep, write = false, quick = false, ...given } = values
  const fixed = Object.keys(given).find((name) => Object.hasOwn(QUICK, name))
  if (quick && fixed !== undefined)
    throw new UsageError(`--quick sets --${fixed}; leave out one of the two`)
  if (write && suites.some((name) => SUITES[name]!.kind !== 'sections'))
    throw new UsageError('--write is for suites without goals; the report has the others')
  return {
    help: Boolean(help),
    isReport,
    suites,
    given: { ...(given as Record<string, string>), ...(quick && QUICK) },
    sizes: quick ? QUICK_SIZES : {},
    keep: keep as string | undefined,
    write: Boolean(write),
  }
}

/** Builds the package and, where a suite needs them, installs the peers. */
function prepare(suites: readonly string[]): void {
  const npm = (...args: string[]): void =>
    void execFileSync('npm', args, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  npm('run', 'build')
  if (!suites.some((name) => SUITES[name]!.needsPeers)) return
  try {
    npm('install', '--prefix', 'benchmarks/peers', '--no-fund', '--no-audit')
  } catch {
    console.error('npm could not install all peers; suites leave out those that are missing')
  }
}

type Result = { readonly rows: Row[] } | { readonly sections: Section[] }

async function runSuite(
  name: string,
  given: Readonly<Record<string, string>>,
  folder: string,
): Promise<Result> {
  const suite = SUITES[name]!
  const values = readValues(suite.options, given)
  const start = performance.now()
  console.error(`\n${name} ${given['size'] ?? ''}`)
  const result =
    suite.kind === 'goals'
      ? { rows: await (await suite.load()).measure(values, folder) }
      : { sections: await (await suite.load()).measure(values) }
  console.error(`${name} took ${Math.round((performance.now() - start) / 1000)} s`)
  return result
}

/** Runs the suites one after the other. A suite that fails does not stop the others. */
async function runAll(command: Command, folder: string): Promise<void> {
  const { isReport, given, sizes, write } = command
  const rows: Row[] = []
  const failed: string[] = []
  for (const name of command.suites)
    try {
      const size = sizes[name]
      const result = await runSuite(name, size === undefined ? given : { ...given, size }, folder)
      if ('rows' in result) rows.push(...result.rows)
      else
        for (const section of result.sections) {
          console.log(`${section.text}\n`)
          if (write) writeSection(section)
        }
    } catch (error) {
      console.error(error)
      failed.push(name)
      killWorkers()
    }
  const isWritten = isReport && (await writeReport(given['size'] ?? '1m', rows, failed))
  if (!isWritten && rows.length > 0) console.log(tablesOf(rows).join('\n'))
  if (rows.length > 0) console.log(goalsMet(rows).join('\n'))
  if (failed.length > 0) process.exitCode = 1
}

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2))
  if (command.help) {
    console.log(help())
    return
  }
  // Refuses invalid values before the build.
  for (const name of command.suites) readValues(SUITES[name]!.options, command.given)
  prepare(command.suites)
  const { keep } = command
  if (keep === undefined) await withTempFolder((folder) => runAll(command, folder))
  else await runAll(command, keep)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\nnpm run bench -- --help lists suites and options`)
  process.exitCode = 1
}
