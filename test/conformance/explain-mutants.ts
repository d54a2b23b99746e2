import type { EventStore, ListOptions, QueryTrace, StepTrace } from 'daybook'
import type { Mutant, Mutants } from './model-store.js'

/** Tells something else of how it answers. */
const telling =
  (change: (step: StepTrace, trace: QueryTrace) => void): Mutant['mutate'] =>
  (store) => ({
    async list(query, options = {}) {
      const page = await store.list(query, options)
      for (const step of options.trace?.steps ?? []) change(step, options.trace!)
      return page
    },
  })

const listing =
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
    'tells nothing': {
      mutate: listing((store, query, options) => store.list(query, withoutTrace(options))),
    },
    'tells of matches only': {
      mutate: telling((step) => {
        step.checked = 0
      }),
    },
    'forgets the one that tells of more': {
      mutate: telling((step) => {
        step.matched = Math.min(step.matched, 10)
      }),
    },
    'tells of more parts than there are': {
      mutate: telling((step) => {
        step.parts_read = step.parts + 1
      }),
    },
    'tells its times as seconds, and they are not': {
      mutate: telling((step) => {
        step.took_ms += 1000
      }),
    },
    'looks at all events': {
      mutate: listing(async (store, query, options) => {
        const sorts = [{ attribute: 'n', direction: 'asc' }] as const
        if (options?.trace) await store.list({ where: undefined, sorts, limit: 1 }, options)
        return store.list(query, options)
      }),
    },
    'finds less where it is asked why': {
      mutate: listing(async (store, query, options) => {
        const page = await store.list(query, options)
        return options?.trace ? { ...page, events: page.events.slice(1) } : page
      }),
    },
    'does not tell of open ones': {
      mutate: listing(async (store, query, options) => {
        const page = await store.list(query, options)
        const open = new Set((await store.openEvents()).map(({ id }) => id))
        const [step] = options?.trace?.steps ?? []
        const found = page.events.filter(({ id }) => open.has(id)).length
        if (step) {
          step.checked -= found
          step.matched -= found
        }
        return page
      }),
    },
    'ignores the signal': {
      mutate: listing((store, query, options) =>
        store.list(query, options && { ...options, signal: undefined }),
      ),
    },
  },
}
