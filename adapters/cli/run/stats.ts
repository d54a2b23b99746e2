import { LEVELS } from '../../../src/event/level.js'
import type { Call } from '../call/command.js'
import { durationText, numberText, sizeText } from '../terminal/format.js'
import { showElapsed } from '../terminal/progress.js'
import { printTable } from '../terminal/table.js'
import { write } from '../terminal/terminal.js'
import { type LogFigures, readFigures } from './log-figures.js'

type Row = readonly [name: string, value: string]

const UNKNOWN = 'not known over HTTP'

/** The form of numbers: for people on a terminal, plain elsewhere. */
interface Writer {
  readonly number: (value: number) => string
  readonly size: (bytes: number) => string
}

const FOR_PEOPLE: Writer = { number: numberText, size: sizeText }
const PLAIN: Writer = { number: String, size: String }

function eventRows({ events }: LogFigures, { number }: Writer): Row[] {
  const count = (value: number): string => (events.exact ? '' : '>=') + number(value)
  return [
    ['events', count(events.total)],
    ...LEVELS.flatMap((level): Row[] => {
      const found = events.levels[level]
      return found === undefined ? [] : [[`events ${level}`, count(found)]]
    }),
    ['oldest', events.oldest ?? 'none'],
    ['newest', events.newest ?? 'none'],
  ]
}

function storeRows({ kind, disk, index }: LogFigures, { number, size }: Writer): Row[] {
  if (kind === 'http')
    return [
      ['size', UNKNOWN],
      ['index waiting', UNKNOWN],
    ]
  return [
    ...(disk ? [['size', size(disk.size_bytes)] satisfies Row] : []),
    ...(typeof disk?.free_bytes === 'number'
      ? [['free', size(disk.free_bytes)] satisfies Row]
      : []),
    ...(index
      ? [
          ['index waiting', number(index.waiting)] satisfies Row,
          ['index damaged', number(index.damaged)] satisfies Row,
        ]
      : []),
  ]
}

function suppressedRows({ suppressed }: LogFigures, { number }: Writer): Row[] {
  const { calls, types, exact } = suppressed
  const count = (value: number): string => (exact ? '' : '>=') + number(value)
  return [
    ['suppressed', count(calls)],
    ...types.map((one): Row => [`suppressed ${one.type}`, count(one.calls)]),
  ]
}

function cleaningRows({ cleaning }: LogFigures): Row[] {
  if (!cleaning) return [['cleaning', UNKNOWN]]
  if (cleaning.length === 0) return [['cleaning', 'no rule has run']]
  return cleaning.map(({ name, running, last_run, next_run }): Row => {
    const last = last_run as { finished_at: string; removed_count: number; error?: string } | null
    const parts = [
      running ? 'running' : undefined,
      last ? `last ${last.finished_at}, ${last.removed_count} removed` : 'never run',
      last?.error === undefined ? undefined : `failed: ${last.error}`,
      next_run === null ? undefined : `next ${next_run}`,
    ]
    return [`cleaning ${name}`, parts.filter((part) => part !== undefined).join(', ')]
  })
}

function subscriptionRows({ subscriptions }: LogFigures, { number }: Writer): Row[] {
  if (!subscriptions) return [['subscriptions', 'the feed does not show them to this user']]
  if (subscriptions.length === 0) return [['subscriptions', 'none']]
  return subscriptions.map(({ name, state, lag_ms, delivered, parked }) => [
    `subscription ${name}`,
    `${state}, lag ${durationText(lag_ms)}, ${number(delivered)} delivered, ${number(parked)} parked`,
  ])
}

export async function run(call: Call): Promise<void> {
  const { terminal, options, config } = call
  const { stdout, signal } = terminal
  const log = await call.openLog()
  const elapsed = showElapsed(terminal, 'counting')
  const figures = await readFigures(log, config, { signal }).finally(() => elapsed.stop())
  if (options['json']) {
    await write(stdout, `${JSON.stringify(figures)}\n`)
    return
  }
  const writer = stdout.isTTY ? FOR_PEOPLE : PLAIN
  const rows = [
    ...eventRows(figures, writer),
    ...storeRows(figures, writer),
    ...suppressedRows(figures, writer),
    ...cleaningRows(figures),
    ...subscriptionRows(figures, writer),
  ]
  await printTable(
    terminal,
    rows,
    [
      { heading: 'FIGURE', text: ([name]) => name },
      { heading: 'VALUE', text: ([, value]) => value },
    ],
    false,
  )
}
