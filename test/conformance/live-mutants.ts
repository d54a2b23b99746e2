import type { AuditEvent, EventStore } from 'daybook'
import { followedList, type Mutant, type Mutants } from './model-store.js'

type Change = Parameters<EventStore['changeLive']>[1]

/** Alters the changes before it applies them. */
const changing =
  (change: (change: Change) => Change): Mutant['mutate'] =>
  (store) => ({
    changeLive: (id, given, options) => store.changeLive(id, change(given), options),
    closeLive: (id, given, options) => store.closeLive(id, change(given), options),
  })

/** Alters open events when they are read. */
const reading =
  (change: (event: AuditEvent) => AuditEvent | undefined): Mutant['mutate'] =>
  (store) => {
    const alter = async (event: AuditEvent): Promise<readonly AuditEvent[]> => {
      const open = await store.openEvents()
      const changed = open.some(({ id }) => id === event.id) ? change(event) : event
      return changed ? [changed] : []
    }
    return {
      async get(id, options) {
        const event = await store.get(id, options)
        return event && (await alter(event))[0]
      },
      async list(query, options) {
        const { events, truncated } = await store.list(query, options)
        return { events: (await Promise.all(events.map(alter))).flat(), truncated }
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
    'hides open events': { mutate: reading(() => undefined) },
    'shows no attributes of open events': {
      mutate: reading((event) => ({ ...event, attributes: {} })),
    },
    'never opens an event': {
      mutate: (store) => ({
        append: (drafts, options) =>
          store.append(
            drafts.map((draft) => ({ ...draft, live: undefined })),
            options,
          ),
      }),
    },
    'replaces a text instead of appending to it': {
      mutate: changing(({ texts, ...change }) => ({
        ...change,
        texts: texts?.map((text) => ({ ...text, replaces: true })),
      })),
    },
    'appends to a text instead of replacing it': {
      mutate: changing(({ texts, ...change }) => ({
        ...change,
        texts: texts?.map((text) => ({ ...text, replaces: false })),
      })),
    },
    'ignores new attributes': {
      mutate: changing(({ revision, texts }) => ({ revision, texts })),
    },
    'applies a repeated change again': {
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
    'leaves a closed event open': {
      mutate: (store) => ({
        async closeLive(id, change, options) {
          await store.changeLive(id, change, options)
          return store.get(id, options)
        },
      }),
    },
    'does not return an event that is closed already': {
      mutate: (store) => ({
        async closeLive(id, change, options) {
          const open = await store.openEvents(options)
          const isOpen = open.some((one) => one.id === id)
          return isOpen ? store.closeLive(id, change, options) : undefined
        },
      }),
    },
    'hides an event while it closes': {
      mutate(store) {
        const closing = new Set<string>()
        const { list, idle } = followedList({
          async list(query, options) {
            const page = await store.list(query, options)
            return { ...page, events: page.events.filter(({ id }) => !closing.has(id)) }
          },
        })
        return {
          async closeLive(id, change, options) {
            closing.add(id)
            try {
              return await store.closeLive(id, change, options)
            } finally {
              await idle()
              closing.delete(id)
            }
          },
          list,
        }
      },
    },
    'lists a closed event twice': {
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
    'removes open events': {
      mutate: removing((store, open) =>
        Promise.all(open.map((id) => store.closeLive(id, { revision: Number.NaN }))),
      ),
    },
    'returns no open events': { mutate: () => ({ openEvents: async () => [] }) },
    'resolves to true for any id': {
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

  excess: {
    'counts one event too many': {
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
    'ignores the bytes': {
      mutate: (store) => ({
        excess: ({ from, rows }, options) => store.excess({ from, rows }, options),
      }),
    },
    'counts five bytes too few': {
      mutate: (store) => ({
        excess: ({ bytes, ...bounds }, options) =>
          store.excess({ ...bounds, bytes: bytes === undefined ? bytes : bytes + 5 }, options),
      }),
    },
    'applies only the loosest bound': {
      mutate: (store) => ({
        excess: async (bounds, options) => {
          const all = await Promise.all(
            Object.entries(bounds).map(([name, value]) => store.excess({ [name]: value }, options)),
          )
          return all.toSorted((a, b) => a.before - b.before)[0] ?? store.excess({}, options)
        },
      }),
    },
    'counts open events': {
      mutate: (store) => ({
        excess: async (bounds, options) => {
          const { before, count } = await store.excess(bounds, options)
          return { before, count: count + (await store.openEvents()).length }
        },
      }),
    },
    'ignores the signal': { mutate: (store) => ({ excess: (bounds) => store.excess(bounds) }) },
  },

  'remove: reports': {
    'reports nothing': {
      mutate: (store) => ({
        removeBefore: (time, options) => store.removeBefore(time, { signal: options?.signal }),
      }),
    },
    'reports each transaction separately': {
      mutate: (store) => ({
        removeBefore: (time, options) =>
          store.removeBefore(time, {
            onProgress: (removed) => options?.onProgress?.(removed / 2),
          }),
      }),
    },
  },
  remove: {
    'removes nothing by id': { mutate: () => ({ remove: async () => 0 }) },
    'returns the number of ids': {
      mutate: (store) => ({
        remove: (ids, options) => store.remove(ids, options).then(() => ids.length),
      }),
    },
    'removes at most a thousand ids': {
      mutate: (store) => ({
        remove: (ids, options) => store.remove(ids.slice(0, 1000), options),
      }),
    },
    'ignores the signal with ids': {
      mutate: (store) => ({ remove: (ids) => store.remove(ids) }),
    },
  },
}
