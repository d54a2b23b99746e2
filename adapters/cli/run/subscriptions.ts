import { nearest } from '../../../src/event/nearest.js'
import { formatTimestamp } from '../../../src/event/timestamp.js'
import type { Call } from '../call/command.js'
import { readTime } from '../call/times.js'
import type { ManagedSubscriptions, SubscriptionRow, Which } from '../feed/managed-subscriptions.js'
import { managedSubscriptions } from '../log/managed-subscriptions.js'
import { CommandError, type Exit, usageError } from '../terminal/exit-codes.js'
import { durationText, numberText } from '../terminal/format.js'
import { printNotice } from '../terminal/notice.js'
import type { Style } from '../terminal/style.js'
import { type Column, printTable } from '../terminal/table.js'
import { write } from '../terminal/terminal.js'

/* Commands on subscriptions. Each function is one command. */

interface Found {
  readonly all: ManagedSubscriptions
  readonly one: SubscriptionRow
}

async function open(call: Call, readOnly: boolean): Promise<ManagedSubscriptions> {
  const log = await call.openLog({ readOnly })
  return managedSubscriptions(log, call.options['by'] as string | undefined)
}

/** The subscription that the argument names. */
async function find(call: Call, { readOnly = false } = {}): Promise<Found> {
  const wanted = String(call.arguments['subscription'])
  const all = await open(call, readOnly)
  const rows = await all.list({ signal: call.terminal.signal })
  const one = rows.find(({ id, name }) => id === wanted || name === wanted)
  if (one) return { all, one }
  const names = rows.map(({ name }) => name)
  throw new CommandError('usage', `there is no subscription ${wanted}`, nearest(wanted, names))
}

/** A process can only deliver to channels in its code. */
function requireChannels({ target, config }: Call, command: string): void {
  if (target.kind === 'http' || config?.subscriptions) return
  throw usageError(
    `subscriptions ${command} delivers from this process: give --config <module> with the subscriptions of the log, or the address of its feed`,
  )
}

const STYLES: Readonly<Partial<Record<SubscriptionRow['state'], Style>>> = {
  live: 'green',
  catching_up: 'yellow',
  failing: 'red',
  broken: 'red',
  unowned: 'red',
}

const faultText = ({ last_error }: SubscriptionRow): string =>
  last_error ? [last_error.kind, last_error.status].filter(Boolean).join(' ') : ''

function columnsOf(isTTY: boolean): readonly Column<SubscriptionRow>[] {
  const number = isTTY ? numberText : String
  return [
    { heading: 'NAME', text: ({ name }) => name },
    { heading: 'CHANNEL', text: ({ channel }) => channel },
    { heading: 'STATE', text: ({ state }) => state, style: ({ state }) => STYLES[state] },
    {
      heading: 'LAG',
      text: ({ lag_ms }) => (isTTY ? durationText(lag_ms) : String(lag_ms)),
      align: 'right',
    },
    { heading: 'DELIVERED', text: ({ delivered }) => number(delivered), align: 'right' },
    {
      heading: 'PARKED',
      text: ({ parked }) => number(parked),
      style: ({ parked }) => (parked > 0 ? 'red' : undefined),
      align: 'right',
    },
    { heading: 'LAST FAULT', text: faultText },
    { heading: 'AT', text: ({ last_error }) => last_error?.at ?? '' },
  ]
}

const print = ({ terminal, options }: Call, rows: readonly SubscriptionRow[]): Promise<void> =>
  printTable(terminal, rows, columnsOf(terminal.stdout.isTTY === true), options['json'] === true)

export async function list(call: Call): Promise<void> {
  const all = await open(call, true)
  const rows = await all.list({ signal: call.terminal.signal })
  if (rows.length === 0 && call.terminal.stdout.isTTY)
    printNotice(call.terminal, 'no subscriptions', call.options['json'] === true)
  else await print(call, rows)
}

type Change = (found: Found, options: { readonly signal: AbortSignal }) => Promise<void>

/** A command that changes a subscription, and prints it afterwards. */
const changing =
  (change: Change) =>
  async (call: Call): Promise<void> => {
    const found = await find(call)
    const { signal } = call.terminal
    await change(found, { signal })
    const rows = await found.all.list({ signal })
    await print(
      call,
      rows.filter(({ id }) => id === found.one.id),
    )
  }

export const pause = changing(({ all, one }, options) => all.pause(one.id, options))
export const resume = changing(({ all, one }, options) => all.resume(one.id, options))
/** The `created_at` from which events are delivered again. */
function readFrom({ options }: Call): string | undefined {
  const from = options['from'] as string | undefined
  if (from === undefined || from === 'beginning') return from
  return formatTimestamp(readTime(from, '--from', options))
}

export const replay = (call: Call): Promise<void> =>
  changing(({ all, one }, options) => all.replay(one.id, readFrom(call), options))(call)

function readLimit(text: unknown): number {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit
  throw usageError(`--limit ${String(text)}: must be a whole number from 1 to 1000`)
}

export async function parked(call: Call): Promise<void> {
  const limit = readLimit(call.options['limit'])
  const { all, one } = await find(call, { readOnly: true })
  const { terminal, options } = call
  const rows = await all.parked(one.id, { limit, signal: terminal.signal })
  await printTable(
    terminal,
    rows,
    [
      { heading: 'CREATED AT', text: ({ created_at }) => created_at },
      { heading: 'EVENT', text: ({ event_id }) => event_id },
      { heading: 'ATTEMPTS', text: ({ attempts }) => String(attempts), align: 'right' },
      { heading: 'PARKED AT', text: ({ parked_at }) => parked_at },
      { heading: 'ERROR', text: ({ error }) => error },
    ],
    options['json'] === true,
  )
}

/** The events that the arguments or `--all` choose. */
function chosen({ arguments: { events }, options }: Call): Which {
  const ids = Array.isArray(events) ? (events as readonly string[]) : []
  const isAll = options['all'] === true
  if (isAll && ids.length > 0) throw usageError('give ids of events, or --all, but not both')
  if (!isAll && ids.length === 0) throw usageError('give the ids of parked events, or --all')
  return isAll ? 'all' : ids
}

/** One result: as one line of JSON, or as a sentence. */
const printResult = async (
  { terminal: { stdout }, options }: Call,
  result: object,
  sentence: string,
): Promise<void> => write(stdout, `${options['json'] ? JSON.stringify(result) : sentence}\n`)

export async function redrive(call: Call): Promise<Exit> {
  const which = chosen(call)
  requireChannels(call, 'redrive')
  const { all, one } = await find(call)
  const result = await all.redrive(one.id, which, { signal: call.terminal.signal })
  const { delivered, failed, missed } = result
  await printResult(
    call,
    result,
    `${delivered} delivered, ${failed} refused again, ${missed} missed`,
  )
  return failed === 0 ? 'done' : 'failed'
}

export async function discard(call: Call): Promise<void> {
  const which = chosen(call)
  const isCertain = call.options['yes'] === true
  const { all, one } = await find(call, { readOnly: !isCertain })
  const { signal } = call.terminal
  if (isCertain) {
    const discarded = await all.discard(one.id, which, { signal })
    await printResult(call, { discarded }, `${discarded} discarded`)
    return
  }
  const count = which === 'all' ? one.parked : which.length
  await printResult(
    call,
    { would_discard: count },
    `${count} would be discarded; --yes discards them`,
  )
}

export async function test(call: Call): Promise<Exit> {
  requireChannels(call, 'test')
  const { all, one } = await find(call)
  const result = await all.test(one.id, { signal: call.terminal.signal })
  const { accepted, fault, status, duration_ms } = result
  const time = `${Math.round(duration_ms)} ms`
  const why = [fault, status].filter((part) => part !== null).join(' ')
  await printResult(call, result, accepted ? `accepted in ${time}` : `refused: ${why}, in ${time}`)
  return accepted ? 'done' : 'failed'
}
