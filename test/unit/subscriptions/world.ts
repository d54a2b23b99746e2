import {
  type AuditEvent,
  AuditLog,
  AuditLogError,
  type Channel,
  type ChannelKind,
  type DeliveryContext,
  type EventStore,
  type EventTypes,
  type SubscriptionDefinition,
  type SubscriptionsOptions,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { afterEach, beforeEach, vi } from 'vitest'
import { turns } from '../fake-store.js'

/** Fakes all timers and clocks; `vi.useRealTimers` ends it. */
export function fakeTime(): void {
  vi.useFakeTimers({
    now: new Date('2026-03-01T12:00:00Z'),
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  })
}

const STEP_MS = 50

/** Lets this much faked time pass, in steps. */
export async function advance(ms: number, stepMs = STEP_MS): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    await vi.advanceTimersByTimeAsync(Math.min(left, stepMs))
    await turns()
  }
}

/** Lets faked time pass until the condition holds. Throws after `ms`. */
export async function until(
  condition: () => unknown,
  ms = 60_000,
  stepMs = STEP_MS,
): Promise<void> {
  await turns()
  for (let passed = 0; !(await condition()); passed += stepMs) {
    if (passed >= ms) throw new Error(`still waiting after ${ms} ms: ${String(condition)}`)
    await advance(stepMs, stepMs)
  }
}

/** Lets faked time pass until the promise is settled. Throws after `ms`. */
export async function settled<Result>(promise: Promise<Result>, ms?: number): Promise<Result> {
  let isSettled = false
  const settle = (): void => void (isSettled = true)
  promise.then(settle, settle)
  await until(() => isSettled, ms)
  return promise
}

/** The store without `close`, so that several logs on it can represent processes. */
export const shared = (store: EventStore): EventStore => ({ ...store, close: async () => {} })

/** One call of `deliver`. */
export interface Delivery extends DeliveryContext {
  readonly events: readonly AuditEvent[]
  /** The attributes `n` of the events. */
  readonly numbers: readonly unknown[]
}

/** A class, because a channel that is a plain object has no further members. */
export class RecordingChannel implements Channel {
  readonly kind?: Channel['kind']
  readonly batch?: Channel['batch']
  readonly rate?: Channel['rate']
  readonly checkpoint?: Channel['checkpoint']
  readonly deliveries: Delivery[] = []
  readonly #accepted: unknown[] = []
  readonly #answer: (delivery: Delivery) => unknown

  constructor(answer: (delivery: Delivery) => unknown, options: Omit<Channel, 'deliver'>) {
    Object.assign(this, options)
    this.#answer = answer
  }

  /** The numbers of all events that were accepted, in the order of their deliveries. */
  accepted(): unknown[] {
    return this.#accepted
  }

  async deliver(events: readonly AuditEvent[], context: DeliveryContext): Promise<void> {
    const numbers = events.map(({ attributes }) => attributes['n'])
    const delivery = { ...context, events, numbers }
    this.deliveries.push(delivery)
    await this.#answer(delivery)
    this.#accepted.push(...numbers)
  }
}

/** A channel that keeps its deliveries. It accepts deliveries for which `answer` does not throw. */
export function recordingChannel(
  answer: (delivery: Delivery) => unknown = () => {},
  options: Omit<Channel, 'deliver'> = {},
): RecordingChannel {
  return new RecordingChannel(answer, options)
}

export const openLog = (
  store: EventStore,
  subscriptions: SubscriptionsOptions,
  types = {},
  options: { readonly strict?: boolean } = {},
): AuditLog => new AuditLog({ store, types, subscriptions, ...options })

interface World {
  /** The store of the test. */
  readonly store: EventStore
  /** Opens a log on the store, which represents a process. The log is closed after the test. */
  open(options?: SubscriptionsOptions, types?: EventTypes, on?: EventStore): AuditLog
  /** Closes all logs that are open. */
  closeAll(): Promise<void>
}

/** Gives each test of the file a store, and fakes its time. */
export function useWorld(makeStore: () => EventStore = memoryStore): World {
  const opened: AuditLog[] = []
  let store: EventStore
  async function closeAll(): Promise<void> {
    await settled(Promise.all(opened.splice(0).map((audit) => audit.close())))
  }
  beforeEach(() => {
    fakeTime()
    store = makeStore()
  })
  afterEach(async () => {
    await closeAll()
    vi.useRealTimers()
  })
  return {
    get store() {
      return store
    },
    open(options = {}, types = {}, on = shared(store)) {
      const audit = openLog(on, options, types)
      opened.push(audit)
      return audit
    },
    closeAll,
  }
}

/** Selects the events of `recordNumbers`. */
export const NUMBERS = 'filter[type_eq]=test:number'

/** A channel `search` with the subscription `numbers`. */
export const numbersTo = (
  search: Channel,
  more: Partial<SubscriptionDefinition> = {},
): SubscriptionsOptions => ({
  channels: { search },
  subscriptions: { numbers: { channel: 'search', filter: NUMBERS, ...more } },
})

/** Records events with the attributes `n` from `first` to `last`. */
export async function recordNumbers(audit: AuditLog, first: number, last: number): Promise<void> {
  for (let n = first; n <= last; n++) await audit.recordCustom('test:number', { n })
}

export const numbers = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** All events of the log of these types, oldest first. */
export async function recorded(audit: AuditLog, start: string): Promise<AuditEvent[]> {
  const { events } = await audit.list(`filter[type_start]=${start}&limit=1000`)
  return [...events]
}

export const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64')

/** A kind of channels with a topic and a secret token. `answer` gets their deliveries. */
export function topicKind(
  answer: (topic: string, token: unknown, delivery: Delivery) => unknown = () => {},
  options: Omit<Channel, 'deliver'> = {},
): ChannelKind & { readonly opened: string[] } {
  const opened: string[] = []
  return {
    opened,
    read(given, present) {
      const { topic, token } = { ...present?.config, ...present?.secrets, ...given }
      if (typeof topic !== 'string')
        throw new AuditLogError('INVALID_CHANNEL', 'no topic', { pointer: '/config/topic' })
      const config = { topic }
      if (token !== undefined) return { config, secrets: { token } }
      return { config, secrets: { token: 'tok_first' }, secret: 'tok_first' }
    },
    open({ config, secrets }) {
      const topic = config['topic'] as string
      if (topic === 'missing') throw new AuditLogError('MISSING_DEPENDENCY', 'install topics')
      opened.push(topic)
      return recordingChannel((delivery) => answer(topic, secrets['token'], delivery), {
        kind: 'topic',
        ...options,
      })
    },
    rotate: ({ config, secrets }) => ({
      config,
      secrets: { token: `${secrets['token'] as string}+` },
      secret: `${secrets['token'] as string}+`,
    }),
  }
}
