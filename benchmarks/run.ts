/*
 * Runs benchmarks: `npm run bench -- --help` lists the suites and their options.
 *
 * Without suites, all of them run and results.md is written anew.
 *
 * Builds the package first, and installs the peers where a suite needs them. Files go to the system's
 * folder for temporary files (TMPDIR), which should be on a disk and have room for 6 GB.
 */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { parseArgs } from 'node:util'
import {
  OPTIONS,
  type OptionName,
  type Options,
  readNumber,
  UsageError,
} from './harness/options.js'
import { machine } from './harness/machine.js'
import { type Found, goalsOf, linesOf, REPORT, writeReport } from './harness/report.js'
import type { Table } from './harness/suite.js'
import { withTempFolder } from './harness/temp.js'
import { killWorkers } from './harness/workers.js'
import { SUITES } from './suites/index.js'

const ROOT = path.join(import.meta.dirname, '..')

/** At most these, in a quick run. */
const QUICK = { rounds: 1, seconds: 1, events: 20_000, logs: 20, rows: 1000 } as const

/** What suites take when they do not say it. */
const UNUSED = { rounds: 1, seconds: 1, events: 1, logs: 1, rows: 1 } as const

const COMMON = {
  part: ['<name,name>', 'only these parts of the suites'],
  quick: ['', 'one short round of everything on small logs, in some minutes; writes nothing'],
  write: ['', 'write the sections of the named suites into results.md'],
  to: ['<file>', 'write all results to this file in place of results.md'],
  keep: ['<folder>', 'folder for SQLite logs, which stay there for the next run'],
  help: ['', 'print this help'],
} as const

const optionNames = Object.keys(OPTIONS) as OptionName[]
const line = (option: string, text: string): string => `  ${option.padEnd(24)} ${text}`

function help(): string {
  const suites = Object.entries(SUITES).flatMap(([name, { summary, parts, defaults }]) => [
    `${name}: ${summary}`,
    ...(parts.length > 1 ? [line('--part', parts.join(', '))] : []),
    ...Object.entries(defaults).map(([option, value]) =>
      line(`--${option} <n>`, `${OPTIONS[option as OptionName]} (default ${value})`),
    ),
  ])
  return [
    'Usage: npm run bench -- [suites] [options]',
    '',
    'Without suites, runs all of them and writes results.md. With suites, prints their results.',
    '',
    ...Object.entries(COMMON).map(([name, [hint, text]]) => line(`--${name} ${hint}`, text)),
    '',
    ...suites,
  ].join('\n')
}

interface Command {
  readonly suites: readonly string[]
  /** All suites run in full. */
  readonly isWhole: boolean
  readonly parts: ReadonlySet<string> | undefined
  readonly given: Partial<Record<OptionName, number>>
  readonly isQuick: boolean
  /** The file to write. */
  readonly to: string | undefined
  readonly keep: string | undefined
}

function refuse(kind: string, unknown: string | undefined, allowed: Iterable<string>): void {
  if (unknown === undefined) return
  throw new UsageError(`unknown ${kind} ${unknown}; allowed here: ${[...allowed].join(', ')}`)
}

/** Refuses suites, parts and options that do not exist. */
function readCommand(args: readonly string[]): Command | 'help' {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const { values, positionals } = parseCommand(() =>
    parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...{ rounds: text, seconds: text, events: text, logs: text, rows: text },
        ...{ part: text, to: text, keep: text, quick: flag, write: flag, help: flag },
      },
    }),
  )
  if (values.help) return 'help'
  const empty = Object.entries(values).find(([, value]) => value === '')
  if (empty) throw new UsageError(`--${empty[0]} needs a value`)
  const all = Object.keys(SUITES)
  refuse(
    'suite',
    positionals.find((name) => !all.includes(name)),
    all,
  )
  const suites = positionals.length === 0 ? all : all.filter((name) => positionals.includes(name))
  const described = suites.map((name) => SUITES[name]!)
  const partNames = new Set(described.flatMap(({ parts }) => parts))
  const parts = values.part === undefined ? undefined : new Set(values.part.split(','))
  refuse(
    'part',
    [...(parts ?? [])].find((name) => !partNames.has(name)),
    partNames,
  )
  const taken = new Set(described.flatMap(({ defaults }) => Object.keys(defaults)))
  const given: Partial<Record<OptionName, number>> = {}
  for (const name of optionNames) {
    const value = values[name]
    if (value === undefined) continue
    if (!taken.has(name)) throw new UsageError(`--${name} is no option of ${suites.join(', ')}`)
    given[name] = readNumber(name, value)
  }
  const isQuick = values.quick ?? false
  const isChanged = isQuick || parts !== undefined || Object.keys(given).length > 0
  if (values.write && (isQuick || parts))
    throw new UsageError('--write is for whole suites: leave out --quick and --part')
  const isWhole = positionals.length === 0
  const isReport = values.write || (isWhole && !isChanged)
  const report = isReport ? REPORT : undefined
  const to = values.to === undefined ? report : path.resolve(values.to)
  return {
    suites,
    isWhole: isWhole || values.to !== undefined,
    parts,
    given,
    isQuick,
    to,
    keep: values.keep,
  }
}

/** Says what `parseArgs` refuses as an error in the command line. */
function parseCommand<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch (error) {
    throw new UsageError((error as Error).message)
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

function optionsOf(name: string, { given, isQuick }: Command, folder: string): Options {
  const { defaults } = SUITES[name]!
  const values: [string, number][] = Object.entries(defaults).map(([option, value]) => {
    const key = option as OptionName
    return [option, given[key] ?? (isQuick ? Math.min(value, QUICK[key]) : value)]
  })
  return { ...UNUSED, ...Object.fromEntries(values), folder }
}

/** Says that something failed, in the results too. */
function failed(what: string, error: unknown): Table {
  console.error(error)
  process.exitCode = 1
  killWorkers()
  return { title: what, text: '**This part failed and is missing.**', rows: [] }
}

/** A part that fails does not stop the others. */
async function runSuite(name: string, command: Command, folder: string): Promise<Table[]> {
  const { load, parts } = SUITES[name]!
  const tables: Table[] = []
  try {
    const { suite } = await load()
    const options = optionsOf(name, command, folder)
    await suite.setUp(options, async (context) => {
      for (const part of parts) {
        if (command.parts && !command.parts.has(part)) continue
        const start = performance.now()
        const found = suite.parts[part]!(context, options)
        tables.push(...(await found.catch((error: unknown) => [failed(part, error)])))
        console.error(`${name}, ${part}: ${secondsSince(start)} s`)
      }
    })
  } catch (error) {
    tables.push(failed(`The set-up of ${name}`, error))
  }
  return tables
}

const secondsSince = (start: number): number => Math.round((performance.now() - start) / 1000)

/** Runs the suites one after the other. */
async function runAll(command: Command, folder: string): Promise<void> {
  const found: Found[] = []
  for (const name of command.suites) {
    const { title, summary, parts } = SUITES[name]!
    if (command.parts && !parts.some((part) => command.parts!.has(part))) continue
    console.error(`\n${name}`)
    const start = performance.now()
    const tables = await runSuite(name, command, folder)
    console.log([`## ${title}`, '', ...tables.flatMap(linesOf)].join('\n'))
    found.push({ name, title, summary, tables })
    console.error(`${name} took ${secondsSince(start)} s`)
  }
  console.log(goalsOf(found.flatMap(({ tables }) => tables)).join('\n'))
  if (command.to !== undefined)
    writeReport(command.to, found, command.isWhole ? await machine() : undefined)
}

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2))
  if (command === 'help') {
    console.log(help())
    return
  }
  prepare(command.suites)
  const { keep } = command
  if (keep === undefined) await withTempFolder((folder) => runAll(command, folder))
  else await runAll(command, path.resolve(keep))
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\nnpm run bench -- --help lists suites and options`)
  process.exitCode = 1
}
