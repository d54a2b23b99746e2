import type { EventStore } from 'daybook'
import type { Mutants } from './model-store.js'

const scrubbing =
  (scrub: (store: EventStore) => Promise<unknown>) =>
  (store: EventStore): Partial<EventStore> => ({
    async scrub(options) {
      const scrubbed = await store.scrub!(options)
      await scrub(store)
      return scrubbed
    },
  })

/** The id of the newest event but one, as the newest is open. */
const lastClosed = (store: EventStore) =>
  store.list({ where: undefined, sorts: [], limit: 2 }).then(({ events }) => events[0]!.id)

export const scrubMutants: Mutants = {
  'scrub: keeps all events': {
    'removes one more event': {
      mutate: scrubbing(async (store) => store.remove([await lastClosed(store)])),
    },
    'closes live events': {
      mutate: scrubbing(async (store) => {
        for (const { id, revision } of await store.openEvents())
          await store.closeLive(id, { revision: revision + 1 })
      }),
    },
    'returns an empty text': {
      mutate: (store) => ({
        scrub: (options) => store.scrub!(options).then(() => ({ remaining: [''] })),
      }),
    },
  },
  'scrub: opens': {
    'leaves throttles closed': { mutate: () => ({ scrub: async () => ({ remaining: [] }) }) },
    'opens all throttles': {
      mutate(store) {
        let isScrubbed = false
        return {
          scrub: (options) => store.scrub!(options).finally(() => (isScrubbed = true)),
          append: (drafts, options) =>
            store.append(
              drafts.map((draft) => (isScrubbed ? { ...draft, throttle: undefined } : draft)),
              options,
            ),
        }
      },
    },
  },
  'scrub: forgets': {
    'keeps all counts': { mutate: () => ({ scrub: async () => ({ remaining: [] }) }) },
  },
  'scrub: keeps the states': {
    'removes all states': {
      mutate: scrubbing(async (store) => {
        for (const [key] of await store.readStates('', { limit: 1000 }))
          await store.updateState(key, () => undefined)
      }),
    },
  },
  'scrub: can be repeated': {
    'fails the second time': {
      mutate(store) {
        let count = 0
        return {
          scrub: async (options) =>
            count++ > 0 ? Promise.reject(new Error('again')) : store.scrub!(options),
        }
      },
    },
  },
  'scrub: an aborted': {
    'ignores the signal': { mutate: (store) => ({ scrub: () => store.scrub!() }) },
  },
}
