import { type AppendOptions, AuditLogError, type EventDraft } from 'daybook'
import { memoryStore } from 'daybook/memory'
import type { Mutant, Mutants } from './model-store.js'

/** Appends other drafts than those given. */
const appending =
  (change: (draft: EventDraft) => EventDraft): Mutant['mutate'] =>
  (store) => ({ append: (drafts, options) => store.append(drafts.map(change), options) })

const withThrottle = (change: (throttle: NonNullable<EventDraft['throttle']>) => object) =>
  appending((draft) =>
    draft.throttle
      ? { ...draft, throttle: { ...draft.throttle, ...change(draft.throttle) } }
      : draft,
  )

/** Appends with other options. */
const withOptions =
  (change: (options: AppendOptions) => AppendOptions): Mutant['mutate'] =>
  (store) => ({ append: (drafts, options = {}) => store.append(drafts, change(options)) })

let keys = 0
const never = (): undefined => undefined

export const throttleMutants: Mutants = {
  throttle: {
    'has none': { mutate: appending((draft) => ({ ...draft, throttle: undefined })) },
    'has one key': { mutate: withThrottle(() => ({ key: 'one' })) },
    'forgets its key': { mutate: withThrottle(({ key }) => ({ key: `${key} ${keys++}` })) },
    'opens early': { mutate: withThrottle(({ period }) => ({ period: period / 2 })) },
    'opens late': { mutate: withThrottle(({ period }) => ({ period: period + 1_000_000 })) },
    'tells nobody': { mutate: withOptions(({ signal }) => ({ signal })) },
    'tells in milliseconds': {
      mutate: withOptions((options) => ({
        ...options,
        onSuppressed: (draft, opensIn) => options.onSuppressed?.(draft, opensIn / 1000),
      })),
    },
    'closes for what it refuses': {
      mutate: (store) => ({
        async append(drafts, options = {}) {
          if (options.signal?.aborted) await store.append(drafts)
          return store.append(drafts, options)
        },
      }),
    },
    'has a throttle for each store': {
      mutate(store) {
        const own = new Map<string, boolean>()
        return {
          append: (drafts, options) =>
            store.append(
              drafts.filter(({ throttle }) => {
                const isKnown = throttle !== undefined && own.has(throttle.key)
                if (throttle) own.set(throttle.key, true)
                return !isKnown
              }),
              options,
            ),
        }
      },
    },
    'keeps again what it does not know of': { ways: { findsKept: false } },
  },

  suppressed: {
    'loses reports': { mutate: () => ({ reportSuppressed: async () => {} }) },
    'adds a report each time that it comes': {
      mutate: (store) => ({
        reportSuppressed: (report, options) =>
          store.reportSuppressed({ ...report, reporter: `mutant ${keys++}` }, options),
      }),
    },
    'knows one reporter': {
      mutate: (store) => ({
        reportSuppressed: (report, options) =>
          store.reportSuppressed({ ...report, reporter: 'mutant' }, options),
      }),
    },
    'takes the first of a report': {
      mutate: (store) => ({
        reportSuppressed: ({ counts, ...report }, options) =>
          store.reportSuppressed({ ...report, counts: counts.slice(0, 1) }, options),
      }),
    },
    'takes the last time for the first': {
      mutate: (store) => ({
        reportSuppressed: (report, options) => {
          const counts = report.counts.map((count) => ({ ...count, first: count.last }))
          return store.reportSuppressed({ ...report, counts }, options)
        },
      }),
    },
    'never tells': { mutate: () => ({ recordSuppressed: async () => 0 }) },
    'counts twice what it tells': {
      mutate: (store) => ({
        recordSuppressed: (draftOf, options) =>
          store.recordSuppressed(
            (counts) => draftOf(counts.map((one) => ({ ...one, count: 2 * one.count }))),
            options,
          ),
      }),
    },
    'tells without an event': {
      mutate: (store) => ({
        recordSuppressed: async (draftOf, options) => {
          const before = await store.list({ where: undefined, sorts: [], limit: 1000 })
          const count = await store.recordSuppressed(draftOf, options)
          const known = new Set(before.events.map(({ id }) => id))
          const after = await store.list({ where: undefined, sorts: [], limit: 1000 })
          await store.remove(after.events.map(({ id }) => id).filter((id) => !known.has(id)))
          return count
        },
      }),
    },
    'ignores the signal': {
      mutate: (store) => ({
        reportSuppressed: (report) => store.reportSuppressed(report),
        recordSuppressed: (draftOf) => store.recordSuppressed(draftOf),
      }),
    },
  },

  state: {
    forgets: { mutate: () => ({ updateState: async (_, change) => change(undefined, 0) }) },
    'has one value': {
      mutate: (store) => ({
        updateState: (_, change, options) => store.updateState('one', change, options),
      }),
    },
    'reads before it writes': {
      mutate: (store) => ({
        async updateState(key, change, options) {
          let now = 0
          const value = await store.updateState(
            key,
            (before, time) => {
              now = time
              return before
            },
            options,
          )
          const next = change(value, now)
          return store.updateState(key, () => next, options)
        },
      }),
    },
    'gives the value before': {
      mutate: (store) => ({
        async updateState(key, change, options) {
          const before = await store.updateState(key, (value) => value, options)
          await store.updateState(key, change, options)
          return before
        },
      }),
    },
    'tells the time in milliseconds': {
      mutate: (store) => ({
        updateState: (key, change, options) =>
          store.updateState(key, (value, now) => change(value, now / 1000), options),
      }),
    },
    'has a state for each store': {
      mutate: () => ({ updateState: memoryStore().updateState }),
    },
    'ignores the signal': {
      mutate: (store) => ({ updateState: (key, change) => store.updateState(key, change) }),
    },
  },

  'append: what was kept later': {
    'does not look': {
      mutate: withOptions(({ onSuppressed }) => ({ onSuppressed })),
    },
    'looks too late': {
      mutate: withOptions((options) => ({
        ...options,
        since: options.since === undefined ? undefined : options.since + 1_500_000,
      })),
    },
    'does not give what it finds': {
      mutate: (store) => ({
        append: async (drafts, options) => {
          const events = await store.append(drafts, options)
          return options?.since === undefined ? events : events.slice(0, 1)
        },
      }),
    },
  },

  'transaction: held back': {
    'does not count': { ways: { countsOutbox: false } },
    'keeps all of the outbox': {
      ways: { toDraft: ({ draft }) => ({ ...draft, throttle: undefined }) },
    },
  },

  'close: refuses everything': {
    'still closes live events': {
      mutate: () => ({ closeLive: async () => undefined, openEvents: async () => [] }),
    },
    'fails otherwise': {
      mutate: () => ({
        excess: () => Promise.reject(new AuditLogError('STORE_FAILED', 'a mutant')),
      }),
    },
    'has state for ever': { mutate: () => ({ updateState: async () => never() }) },
  },
}
