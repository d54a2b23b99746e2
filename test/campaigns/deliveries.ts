import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import fc from 'fast-check'
import { compileSources } from '../support/global-compiled.js'
import { openStore } from '../support/open-store.js'
import { allEvents } from '../support/reported-losses.js'
import { isWritable } from '../support/sqlite-lock.js'
import { suspend } from '../support/stopped.js'
import { tempDir } from '../support/temp.js'
import { type Arrivals, readArrivals } from './deliveries/arrivals.js'
import { CHANNELS, type ChannelName, TYPE } from './deliveries/log.js'
import { explainRepeats, type Interruption } from './deliveries/repeats.js'
import type { Campaign } from './run.js'
import { type Running, startProcess, until as untilHanging } from './shared/process.js'
import { runLogs } from './shared/rounds.js'

/*
 * Three processes deliver one log to a function and to a webhook, whose receiver is a separate process. Four writers
 * record events and roll some of them back. In each round the process that delivers to one of the channels is killed
 * with SIGKILL, or suspended with SIGSTOP until another process has taken over. Every event must arrive at both
 * channels, in the order of the log. An event may arrive again only if its process was interrupted before it stored
 * the cursor.
 */

const DELIVERERS = 3
const ROUNDS_PER_LOG = 20
/** Number of events that arrive at each channel before a round, so that the round interrupts a process at work. */
const EVENTS_BEFORE_ROUND = 20
const MAX_TAKE_OVER_MS = 8000
/** The work that a kill may repeat. */
const MAX_REPEATED_MS = 250
/** Time limit for a process that hangs. It is long, because a busy machine is slow. */
const HANGS_AFTER_MS = 60_000

export interface DeliveryRound {
  readonly channel: ChannelName
  readonly signal: Interruption['signal']
  readonly delayMs: number
}

export const deliveryRounds: fc.Arbitrary<DeliveryRound> = fc.record({
  channel: fc.constantFrom(...CHANNELS),
  signal: fc.constantFrom('SIGKILL', 'SIGSTOP'),
  delayMs: fc.integer({ min: 0, max: 1000 }),
})

const until = (what: string, condition: () => boolean | Promise<boolean>): Promise<void> =>
  untilHanging(what, HANGS_AFTER_MS, condition)

/** A process, and the lines that it has printed. */
interface Printing extends Running {
  readonly lines: readonly string[]
}

/** Starts a compiled file of `test/campaigns/deliveries`. Resolves when it has printed a line. */
async function start(file: string, name: string, args: readonly string[]): Promise<Printing> {
  const lines: string[] = []
  const running = startProcess(name, [file, ...args], (line) => lines.push(line))
  await until(`${name} has started`, () => {
    if (running.process.exitCode !== null) throw new Error(`${name} ended: ${running.stderr()}`)
    return lines.length > 0
  })
  return { ...running, lines }
}

/** True if a write transaction can begin soon. Suspended processes may hold the lock of SQLite. */
async function canWrite(location: string): Promise<boolean> {
  if (location.startsWith('postgres')) return true
  for (let attempt = 0; attempt < 100; attempt++) {
    if (isWritable(location)) return true
    await delay(10)
  }
  return false
}

export interface DeliveryFigures {
  logs: number
  rounds: number
  events: number
  /** Events that were rolled back. */
  undone: number
  /** Events that arrived again, at both channels. */
  repeated: number
  /** The longest time of work that was repeated. */
  maxRepeatedMs: number
  repeatsOver250Ms: number
  /** The longest time until another process delivered to the channel. */
  maxTakeOverMs: number
  takeOversOver8s: number
}

export const noFigures = (): DeliveryFigures => ({
  logs: 0,
  rounds: 0,
  events: 0,
  undone: 0,
  repeated: 0,
  maxRepeatedMs: 0,
  repeatsOver250Ms: 0,
  maxTakeOverMs: 0,
  takeOversOver8s: 0,
})

export interface DeliveriesRun {
  /** The folder with the compiled sources. */
  readonly compiled: string
  /** A Postgres URL, or the name of an SQLite file. */
  readonly location: string
  readonly plan: readonly DeliveryRound[]
  readonly figures: DeliveryFigures
  /** Returns true if no further round may begin. */
  readonly isOver: () => boolean
  readonly print: (line: string) => void
}

/** The processes of one log. */
class Deliveries {
  readonly arrivals: readonly Arrivals[]
  readonly interruptions: Interruption[] = []
  readonly #run: DeliveriesRun
  readonly #folder: string
  readonly #deliverers = new Map<string, Printing>()
  #started = 0
  #receiver: Printing | undefined
  #writers: Printing | undefined

  constructor(run: DeliveriesRun, folder: string) {
    this.#run = run
    this.#folder = folder
    this.arrivals = CHANNELS.map((channel) => readArrivals(folder, channel))
  }

  #start(role: string, name: string, args: readonly string[]): Promise<Printing> {
    const file = path.join(this.#run.compiled, `test/campaigns/deliveries/${role}.js`)
    return start(file, name, args)
  }

  async #startDeliverer(): Promise<void> {
    const name = `deliverer-${this.#started++}`
    const args = [this.#run.location, this.#folder, name, this.#receiver!.lines[0]!]
    this.#deliverers.set(name, await this.#start('deliverer', name, args))
  }

  async start(): Promise<void> {
    this.#receiver = await this.#start('receiver', 'receiver', [this.#folder])
    this.#writers = await this.#start('writers', 'writers', [this.#run.location])
    for (let n = 0; n < DELIVERERS; n++) await this.#startDeliverer()
  }

  read(): void {
    for (const one of this.arrivals) one.read()
  }

  /** The process that delivers to the channel. */
  #holderOf(channel: ChannelName): string {
    return this.arrivals.find((one) => one.channel === channel)!.all.at(-1)!.process
  }

  /** Waits until this many events have arrived at each channel since the call. */
  async #progress(): Promise<void> {
    this.read()
    const counts = this.arrivals.map(({ keys }) => keys.size + EVENTS_BEFORE_ROUND)
    await until('events arrive', () => {
      this.read()
      return this.arrivals.every(({ keys }, i) => keys.size >= counts[i]!)
    })
  }

  /** Kills the process, or suspends it outside of a write transaction. */
  async #interrupt(victim: Running, signal: Interruption['signal']): Promise<Interruption> {
    for (;;) {
      const from = Date.now()
      if (signal === 'SIGKILL') await victim.kill()
      else await suspend(victim.process.pid!)
      const interruption = { process: victim.name, signal, from, to: Date.now() }
      this.interruptions.push(interruption)
      if (signal === 'SIGKILL' || (await canWrite(this.#run.location))) return interruption
      victim.process.kill('SIGCONT')
      this.#run.print(`${victim.name} was suspended within a transaction, and goes on`)
      await delay(100)
    }
  }

  /**
   * Interrupts the process that delivers to a channel. Returns the time in milliseconds that each of its channels
   * waited for another process.
   */
  async round({ channel, signal, delayMs }: DeliveryRound): Promise<readonly number[]> {
    await this.#progress()
    await delay(delayMs)
    this.read()
    const victim = this.#deliverers.get(this.#holderOf(channel))!
    const held = this.arrivals.filter(({ all }) => all.at(-1)!.process === victim.name)
    const { to } = await this.#interrupt(victim, signal)
    const waits = await Promise.all(
      held.map(async ({ all, channel }) => {
        const successor = () => all.find(({ at, process }) => at > to && process !== victim.name)
        await until(`another process delivers to the ${channel}`, () => {
          this.read()
          return successor() !== undefined
        })
        return successor()!.at - to
      }),
    )
    if (signal === 'SIGKILL') {
      this.#deliverers.delete(victim.name)
      await this.#startDeliverer()
    } else victim.process.kill('SIGCONT')
    return waits
  }

  /**
   * Ends the writers. Resolves to two lists of keys: keys of events that are certainly stored, and keys of events
   * that were rolled back.
   */
  async endWriters(): Promise<{ kept: readonly string[]; undone: readonly string[] }> {
    const { lines } = this.#writers!
    await this.#writers!.finish()
    const keysOf = (word: string): string[] =>
      lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length))
    return { kept: keysOf('kept '), undone: keysOf('undone ') }
  }

  async kill(): Promise<void> {
    const all = [this.#receiver, this.#writers, ...this.#deliverers.values()]
    for (const one of all) await one?.end()
  }
}

/**
 * The keys of the events in the log, in order. Checks that the log has all events that are certainly stored, and no
 * event that was rolled back.
 */
async function keysOfLog(
  audit: AuditLog,
  { kept, undone }: { kept: readonly string[]; undone: readonly string[] },
): Promise<readonly string[]> {
  let keys: readonly string[] = []
  await until('committed events are visible', async () => {
    // A call of `record` moves committed events into the log.
    await audit.recordCustom('test:end')
    const events = (await allEvents(audit)).filter(({ type }) => type === TYPE)
    keys = events.map(({ attributes }) => attributes['key'] as string)
    const found = new Set(keys)
    if (undone.some((key) => found.has(key))) throw new Error('an event was rolled back and stored')
    return kept.every((key) => found.has(key))
  })
  return keys
}

/** Throws unless exactly these events have arrived. */
function checkComplete({ channel, keys }: Arrivals, expected: readonly string[]): void {
  const missing = expected.filter((key) => !keys.has(key))
  if (missing.length > 0)
    throw new Error(`missing at the ${channel}: ${missing.length}, such as ${missing[0]}`)
  const known = new Set(expected)
  const foreign = Array.from(keys.keys()).find((key) => !known.has(key))
  if (foreign !== undefined)
    throw new Error(`arrived at the ${channel}, but not stored: ${foreign}`)
}

/** Adds the repeats to the figures. Returns a line for each interruption that caused repeats. */
function addRepeats(
  arrivals: Arrivals,
  interruptions: readonly Interruption[],
  figures: DeliveryFigures,
): string[] {
  return explainRepeats(arrivals, interruptions).map(({ interruption, events, ms }) => {
    figures.repeated += events
    figures.maxRepeatedMs = Math.max(figures.maxRepeatedMs, ms)
    if (ms > MAX_REPEATED_MS) figures.repeatsOver250Ms += 1
    const { signal, process } = interruption
    return `${signal} of ${process}: ${events} events of ${ms} ms arrived again at the ${arrivals.channel}`
  })
}

/** Runs the rounds on one log. Throws if an event is missing, out of order, or repeated without a reason. */
export async function runDeliveries(run: DeliveriesRun): Promise<void> {
  const { location, plan, figures, isOver, print } = run
  const temp = tempDir()
  const deliveries = new Deliveries(run, temp.dir)
  const audit: AuditLog = new AuditLog({ store: openStore(location), types: {} })
  try {
    await deliveries.start()
    for (const round of plan) {
      if (isOver()) break
      const waits = await deliveries.round(round)
      figures.rounds += 1
      figures.maxTakeOverMs = Math.max(figures.maxTakeOverMs, ...waits)
      figures.takeOversOver8s += waits.filter((ms) => ms > MAX_TAKE_OVER_MS).length
      print(`round ${figures.rounds}: ${round.signal}, taken over after ${waits.join(' and ')} ms`)
    }
    const written = await deliveries.endWriters()
    const keys = await keysOfLog(audit, written)
    await until('everything has arrived', () => {
      deliveries.read()
      return deliveries.arrivals.every(({ keys: arrived }) => arrived.size >= keys.length)
    }).catch(() => {})
    for (const arrivals of deliveries.arrivals) {
      checkComplete(arrivals, keys)
      for (const line of addRepeats(arrivals, deliveries.interruptions, figures)) print(line)
    }
    figures.events += keys.length
    figures.undone += written.undone.length
    figures.logs += 1
  } finally {
    await deliveries.kill()
    await audit.close()
    temp.remove()
  }
}

export const campaign: Campaign = {
  rounds: 400,
  async run(run) {
    const { seconds = Infinity, store, failed } = run
    const compiled = await compileSources()
    const end = performance.now() + seconds * 1000
    const figures = noFigures()
    const common = {
      compiled: compiled.folder,
      figures,
      isOver: () => performance.now() >= end,
      print: console.log,
    }
    const isPostgres = (log: number): boolean => (store ? store === 'postgres' : log % 2 === 1)
    const logs = { round: deliveryRounds, perLog: ROUNDS_PER_LOG, isPostgres, figures }
    await runLogs(run, logs, (location, plan) => runDeliveries({ ...common, location, plan }))
    if (figures.takeOversOver8s > 0)
      failed(`${figures.takeOversOver8s} times nobody took over within ${MAX_TAKE_OVER_MS} ms`)
    if (figures.repeatsOver250Ms > 0)
      failed(`${figures.repeatsOver250Ms} times more than ${MAX_REPEATED_MS} ms were repeated`)
    await compiled.remove()
    return { ...figures }
  },
}
