import type { EventStore, ListOptions, QueryTrace, StepTrace } from 'daybook'
import type { Mutant, Mutants } from './model-store.js'

/** Changes the steps of the trace. */
const tracing =
  (change: (step: StepTrace, trace: QueryTrace) => void): Mutant['mutate'] =>
  (store) => ({
    async list(query, options = {}) {
      const page = await store.list(query, options)
      for (const step of options.trace?.steps ?? []) change(step, options.trace!)
      return page
    },
  })

const withList =
  (
    list: (
      store: EventStore,
      ...args: Parameters<EventStore['list']>
    ) => ReturnType<EventStore['list']>,
  ) =>
  (store: EventStore): Partial<EventStore> => ({
    list: (query, options) => list(store, query, options),
  })

const withoutTrace = (options?: ListOptions): ListOptions => ({ ...options, trace: undefined })

export const explainMutants: Mutants = {
  explain: {
    'has no trace': {
      mutate: withList((store, query, options) => store.list(query, withoutTrace(options))),
    },
    'reports matched events only': {
      mutate: tracing((step) => {
        step.checked = 0
      }),
    },
    'does not report the event beyond the limit': {
      mutate: tracing((step) => {
        step.matched = Math.min(step.matched, 10)
      }),
    },
    'reads more parts than there are': {
      mutate: tracing((step) => {
        step.parts_read = step.parts + 1
      }),
    },
    'reports times that are too long': {
      mutate: tracing((step) => {
        step.took_ms += 3_600_000
      }),
    },
    'checks all events': {
      mutate: withList(async (store, query, options) => {
        const sorts = [{ attribute: 'n', direction: 'asc' }] as const
        if (options?.trace) await store.list({ where: undefined, sorts, limit: 1 }, options)
        return store.list(query, options)
      }),
    },
    'returns fewer events with a trace': {
      mutate: withList(async (store, query, options) => {
        const page = await store.list(query, options)
        return options?.trace ? { ...page, events: page.events.slice(1) } : page
      }),
    },
    'does not report open events': {
      mutate: withList(async (store, query, options) => {
        const page = await store.list(query, options)
        const open = new Set((await store.openEvents()).map(({ id }) => id))
        const [step] = options?.trace?.steps ?? []
        const openInPage = page.events.filter(({ id }) => open.has(id)).length
        if (step) {
          step.checked -= openInPage
          step.matched -= openInPage
        }
        return page
      }),
    },
    'ignores the signal': {
      mutate: withList((store, query, options) =>
        store.list(query, options && { ...options, signal: undefined }),
      ),
    },
  },
}
