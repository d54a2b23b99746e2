import { compareText } from '../../src/filter/values.js'
import type { LogStores } from '../../src/store/log-stores.js'
import type { EventStore } from '../../src/store/store.js'
import { MEMORY_STORE_OPTIONS, memoryStore, type MemoryStoreOptions } from './memory-store.js'
import { checkOptions } from '../../src/options.js'

/**
 * The stores of many logs in the memory of this process, for `AuditLogs` in tests. A closed log keeps its events;
 * `close` discards them.
 */
export function memoryLogs(options: MemoryStoreOptions = {}): LogStores {
  checkOptions(options, MEMORY_STORE_OPTIONS, 'memoryLogs')
  const stores = new Map<string, EventStore>()
  const open = (key: string): EventStore => {
    const known = stores.get(key)
    if (known) return known
    const created = memoryStore(options)
    stores.set(key, created)
    return created
  }
  return {
    open: (key) => ({ ...open(key), close: async () => {} }),
    keys: async ({ after, limit }) =>
      [...stores.keys()]
        .filter((key) => after === undefined || compareText(key, after) > 0)
        .toSorted(compareText)
        .slice(0, limit),
    has: async (key) => stores.has(key),
    async close() {
      await Promise.all(Array.from(stores.values(), (store) => store.close()))
      stores.clear()
    },
  }
}
