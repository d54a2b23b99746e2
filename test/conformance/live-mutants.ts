import type { AuditEvent, EventStore } from 'daybook'
import type { Mutant, Mutants } from './model-store.js'

type Changed = Parameters<EventStore['changeLive']>[1]

/** Applies other changes than those given. */
const changing =
  (change: (change: Changed) => Changed): Mutant['mutate'] =>
  (store) => ({
    changeLive: (id, given, options) => store.changeLive(id, change(given), options),
    closeLive: (id, given, options) => store.closeLive(id, change(given), options),
  })

/** What readers find of live events while they are open. */
const reading =
  (change: (event: AuditEvent) => AuditEvent | undefined): Mutant['mutate'] =>
  (store) => {
    const seen = async (event: AuditEvent): Promise<readonly AuditEvent[]> => {
      const open = await store.openEvents()
      const changed = open.some(({ id }) => id === event.id) ? change(event) : event
      return changed ? [changed] : []
    }
    return {
      async get(id, options) {
        const event = await store.get(id, options)
        return event && (await seen(event))[0]
      },
      async list(query, options) {
        const { events, truncated } = await store.list(query, options)
        return { events: (await Promise.all(events.map(seen))).flat(), truncated }
      },
    }
  }

const removing =
  (act: (store: EventStore, ids: readonly string[]) => Promise<unknown>): Mutant['mutate'] =>
  (store) => ({
    async removeBefore(time, options) {
      const open = (await store.openEvents()).map(({ id }) => id)
      await act(store, open)
      return store.removeBefore(time, options)
    },
  })

export const liveMutants: Mutants = {
  live: {
    'hides what is open': { mutate: reading(() => undefined) },
    'shows no attributes of what is open': {
      mutate: reading((event) => ({ ...event, attributes: {} })),
    },
    'never opens': {
      mutate: (store) => ({
        append: (drafts, options) =>
          store.append(
            drafts.map((draft) => ({ ...draft, live: undefined })),
            options,
          ),
      }),
    },
    'forgets what was added to texts': {
      mutate: changing(({ texts, ...change }) => ({
        ...change,
        texts: texts?.map((text) => ({ ...text, replaces: true })),
      })),
    },
    'never replaces a text': {
      mutate: changing(({ texts, ...change }) => ({
        ...change,
        texts: texts?.map((text) => ({ ...text, replaces: false })),
      })),
    },
    'takes no new attributes': {
      mutate: changing(({ revision, texts }) => ({ revision, texts })),
    },
    'applies a change each time that it comes': {
      mutate: (store) => ({
        async changeLive(id, change, options) {
          const open = (await store.openEvents(options)).find((one) => one.id === id)
          return store.changeLive(id, { ...change, revision: (open?.revision ?? 0) + 1 }, options)
        },
      }),
    },
    'closes without the last change': {
      mutate: (store) => ({
        closeLive: (id, { revision }, options) => store.closeLive(id, { revision }, options),
      }),
    },
    'stays open': {
      mutate: (store) => ({
        async closeLive(id, change, options) {
          await store.changeLive(id, change, options)
          return store.get(id, options)
        },
      }),
    },
    'can be closed once': {
      mutate: (store) => ({
        async closeLive(id, change, options) {
          const open = await store.openEvents(options)
          const isOpen = open.some((one) => one.id === id)
          return isOpen ? store.closeLive(id, change, options) : undefined
        },
      }),
    },
    'is away for a moment as it closes': {
      mutate(store) {
        const closing = new Set<string>()
        return {
          async closeLive(id, change, options) {
            closing.add(id)
            const event = await store.closeLive(id, change, options)
            await new Promise((resolve) => setTimeout(resolve, 2))
            closing.delete(id)
            return event
          },
          async list(query, options) {
            const page = await store.list(query, options)
            return { ...page, events: page.events.filter(({ id }) => !closing.has(id)) }
          },
        }
      },
    },
    'is there twice once it is closed': {
      mutate(store) {
        const closed = new Set<string>()
        return {
          closeLive(id, change, options) {
            closed.add(id)
            return store.closeLive(id, change, options)
          },
          async list(query, options) {
            const page = await store.list(query, options)
            const events = page.events.flatMap((event) =>
              closed.has(event.id) ? [event, event] : [event],
            )
            return { ...page, events }
          },
        }
      },
    },
    'is removed as any other': {
      mutate: removing((store, open) =>
        Promise.all(open.map((id) => store.closeLive(id, { revision: Number.NaN }))),
      ),
    },
    'knows no open events': { mutate: () => ({ openEvents: async () => [] }) },
    'says that it changes anything': {
      mutate: (store) => ({
        changeLive: async (id, change, options) => {
          await store.changeLive(id, change, options)
          return true
        },
      }),
    },
    'ignores the signal': {
      mutate: (store) => ({
        changeLive: (id, change) => store.changeLive(id, change),
        closeLive: (id, change) => store.closeLive(id, change),
      }),
    },
  },

  due: {
    'counts one too many': {
      mutate: (store) => ({
        excess: async (bounds, options) => {
          const { before, count } = await store.excess(bounds, options)
          return { before, count: count + 1 }
        },
      }),
    },
    'keeps one row too many': {
      mutate: (store) => ({
        excess: ({ rows, ...bounds }, options) =>
          store.excess({ ...bounds, rows: rows === undefined ? rows : rows + 1 }, options),
      }),
    },
    'knows no bytes': {
      mutate: (store) => ({
        excess: ({ from, rows }, options) => store.excess({ from, rows }, options),
      }),
    },
    'counts characters': {
      mutate: (store) => ({
        excess: ({ bytes, ...bounds }, options) =>
          store.excess({ ...bounds, bytes: bytes === undefined ? bytes : bytes + 5 }, options),
      }),
    },
    'goes by the least of its bounds': {
      mutate: (store) => ({
        excess: async (bounds, options) => {
          const all = await Promise.all(
            Object.entries(bounds).map(([name, value]) => store.excess({ [name]: value }, options)),
          )
          return all.toSorted((a, b) => a.before - b.before)[0] ?? store.excess({}, options)
        },
      }),
    },
    'counts what is open': {
      mutate: (store) => ({
        excess: async (bounds, options) => {
          const { before, count } = await store.excess(bounds, options)
          return { before, count: count + (await store.openEvents()).length }
        },
      }),
    },
    'ignores the signal': { mutate: (store) => ({ excess: (bounds) => store.excess(bounds) }) },
  },

  'remove: tells': {
    'tells nothing': {
      mutate: (store) => ({
        removeBefore: (time, options) => store.removeBefore(time, { signal: options?.signal }),
      }),
    },
    'tells of each transaction alone': {
      mutate: (store) => ({
        removeBefore: (time, options) =>
          store.removeBefore(time, {
            onProgress: (removed) => options?.onProgress?.(removed / 2),
          }),
      }),
    },
  },
  remove: {
    'removes none by id': { mutate: () => ({ remove: async () => 0 }) },
    'counts the ids': {
      mutate: (store) => ({
        remove: (ids, options) => store.remove(ids, options).then(() => ids.length),
      }),
    },
    'removes a thousand ids at most': {
      mutate: (store) => ({
        remove: (ids, options) => store.remove(ids.slice(0, 1000), options),
      }),
    },
    'ignores the signal with ids': {
      mutate: (store) => ({ remove: (ids) => store.remove(ids) }),
    },
  },
}
