import { AuditLogs, type Clock } from 'daybook'
import { memoryLogs } from 'daybook/memory'
import type { StoreUnderTest } from 'daybook/testing'
import { describeStore } from './describe-store.js'

/** The store of one of many logs, which is closed whenever it is idle. */
function openStore({ clock }: { readonly clock: Clock }): StoreUnderTest {
  const logs = new AuditLogs({ stores: memoryLogs({ clock }), types: {}, idleMs: 100, maxOpen: 1 })
  const { store } = logs.log('one')
  return { store, dispose: () => logs.close() }
}

describeStore('one of many logs in memory', openStore)
