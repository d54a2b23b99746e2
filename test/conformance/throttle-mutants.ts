import { type AppendOptions, AuditLogError, type EventDraft, type JsonValue } from 'daybook'
import { memoryStore } from 'daybook/memory'
import type { Mutant, Mutants } from './model-store.js'

/** Alters the drafts before it appends them. */
const withDrafts =
  (change: (draft: EventDraft) => EventDraft): Mutant['mutate'] =>
  (store) => ({ append: (drafts, options) => store.append(drafts.map(change), options) })

const withThrottle = (change: (throttle: NonNullable<EventDraft['throttle']>) => object) =>
  withDrafts((draft) =>
    draft.throttle
      ? { ...draft, throttle: { ...draft.throttle, ...change(draft.throttle) } }
      : draft,
  )

/** Alters the options of `append`. */
const withOptions =
  (change: (options: AppendOptions) => AppendOptions): Mutant['mutate'] =>
  (store) => ({ append: (drafts, options = {}) => store.append(drafts, change(options)) })

let keys = 0
const never = (): undefined => undefined

export const throttleMutants: Mutants = {
  throttle: {
    'has no throttles': { mutate: withDrafts((draft) => ({ ...draft, throttle: undefined })) },
    'has one throttle for all keys': { mutate: withThrottle(() => ({ key: 'one' })) },
    'has a new throttle for each draft': {
      mutate: withThrottle(({ key }) => ({ key: `${key} ${keys++}` })),
    },
    'opens early': { mutate: withThrottle(({ period }) => ({ period: period / 2 })) },
    'opens late': { mutate: withThrottle(({ period }) => ({ period: period + 1_000_000 })) },
    'does not call onSuppressed': { mutate: withOptions(({ signal }) => ({ signal })) },
    'passes milliseconds to onSuppressed': {
      mutate: withOptions((options) => ({
        ...options,
        onSuppressed: (draft, opensIn) => options.onSuppressed?.(draft, opensIn / 1000),
      })),
    },
    'closes a throttle although the append is aborted': {
      mutate: (store) => ({
        async append(drafts, options = {}) {
          if (options.signal?.aborted) await store.append(drafts)
          return store.append(drafts, options)
        },
      }),
    },
    'has separate throttles for each store': {
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
    'stores again after a lost acknowledgement': { behavior: { findsStored: false } },
  },

  suppressed: {
    'loses reports': { mutate: () => ({ reportSuppressed: async () => {} }) },
    'adds a repeated report again': {
      mutate: (store) => ({
        reportSuppressed: (report, options) =>
          store.reportSuppressed({ ...report, reporter: `mutant ${keys++}` }, options),
      }),
    },
    'treats all reporters as one': {
      mutate: (store) => ({
        reportSuppressed: (report, options) =>
          store.reportSuppressed({ ...report, reporter: 'mutant' }, options),
      }),
    },
    'adds only the first count of a report': {
      mutate: (store) => ({
        reportSuppressed: ({ counts, ...report }, options) =>
          store.reportSuppressed({ ...report, counts: counts.slice(0, 1) }, options),
      }),
    },
    'uses the last time as the first': {
      mutate: (store) => ({
        reportSuppressed: (report, options) => {
          const counts = report.counts.map((count) => ({ ...count, first: count.last }))
          return store.reportSuppressed({ ...report, counts }, options)
        },
      }),
    },
    'never records counts': { mutate: () => ({ recordSuppressed: async () => 0 }) },
    'records twice the counts': {
      mutate: (store) => ({
        recordSuppressed: (draftOf, options) =>
          store.recordSuppressed(
            (counts) => draftOf(counts.map((one) => ({ ...one, count: 2 * one.count }))),
            options,
          ),
      }),
    },
    'removes counts without an event': {
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
    'stores no value': {
      mutate: () => ({ updateState: async (_, change) => change(undefined, 0) }),
    },
    'has one value for all keys': {
      mutate: (store) => ({
        updateState: (_, change, options) => store.updateState('one', change, options),
      }),
    },
    'reads and writes in separate transactions': {
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
    'returns the previous value': {
      mutate: (store) => ({
        async updateState(key, change, options) {
          const before = await store.updateState(key, (value) => value, options)
          await store.updateState(key, change, options)
          return before
        },
      }),
    },
    'passes the time in milliseconds': {
      mutate: (store) => ({
        updateState: (key, change, options) =>
          store.updateState(key, (value, now) => change(value, now / 1000), options),
      }),
    },
    'has separate state for each store': {
      mutate: () => ({ updateState: memoryStore().updateState }),
    },
    'compares only the values that it writes': {
      mutate: (store) => ({
        async updateStates(keys, change, options) {
          const read = async (key: string) =>
            [key, await store.updateState(key, (value) => value, options)] as const
          const values = new Map(await Promise.all(keys.map(read)))
          const after = change(values, 0)
          for (const [key, value] of after) await store.updateState(key, () => value, options)
        },
      }),
    },
    'writes a value that has not changed': {
      mutate: (store) => ({
        async updateStates(keys, change, options) {
          await store.updateStates(keys, change, options)
          await store.updateStates(
            keys,
            (values) => new Map([...values].map(([key, value]) => [key, value && [value]])),
            options,
          )
          const unwrap = (value: JsonValue | undefined) => value && (value as JsonValue[])[0]
          await store.updateStates(
            keys,
            (values) => new Map([...values].map(([key, value]) => [key, unwrap(value)])),
            options,
          )
        },
      }),
    },
    'removes the values that are left out': {
      mutate: (store) => ({
        updateStates: (keys, change, options) =>
          store.updateStates(
            keys,
            (values, now) => {
              const after = change(values, now)
              return new Map(keys.map((key) => [key, after.get(key)]))
            },
            options,
          ),
      }),
    },
    'reads keys in the order of UTF-16': {
      mutate: (store) => ({
        readStates: async (prefix, options) =>
          [...(await store.readStates(prefix, options))].toSorted(([a], [b]) => (a < b ? -1 : 1)),
      }),
    },
    'reads keys that only contain the prefix or come after it': {
      mutate: (store) => ({
        readStates: async (prefix, { after = '', limit, signal }) =>
          (await store.readStates('', { limit: 10_000, signal }))
            .filter(([key]) => key >= prefix && key > after)
            .slice(0, limit),
      }),
    },
    'includes the key to start after': {
      mutate: (store) => ({
        readStates: async (prefix, options) => {
          const all = await store.readStates(prefix, {
            ...options,
            after: undefined,
            limit: 10_000,
          })
          return all.filter(([key]) => key >= (options.after ?? '')).slice(0, options.limit)
        },
      }),
    },
    'ignores the signal': {
      mutate: (store) => ({ updateState: (key, change) => store.updateState(key, change) }),
    },
  },

  'append: drafts stored after': {
    'ignores `since`': {
      mutate: withOptions(({ onSuppressed }) => ({ onSuppressed })),
    },
    'uses a time too late for `since`': {
      mutate: withOptions((options) => ({
        ...options,
        since: options.since === undefined ? undefined : options.since + 1_500_000,
      })),
    },
    'does not return the events it finds': {
      mutate: (store) => ({
        append: async (drafts, options) => {
          const events = await store.append(drafts, options)
          return options?.since === undefined ? events : events.slice(0, 1)
        },
      }),
    },
  },

  'transaction: a draft suppressed': {
    'does not count suppressed drafts': { behavior: { countsOutbox: false } },
    'stores all drafts of the outbox': {
      behavior: { toDraft: ({ draft }) => ({ ...draft, throttle: undefined }) },
    },
  },

  'close: later calls reject': {
    'still accepts closeLive': {
      mutate: () => ({ closeLive: async () => undefined, openEvents: async () => [] }),
    },
    'rejects with another code': {
      mutate: () => ({
        excess: () => Promise.reject(new AuditLogError('STORE_FAILED', 'a mutant')),
      }),
    },
    'still accepts updateState': { mutate: () => ({ updateState: async () => never() }) },
  },
}
