import type { Clock } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import type { StoreUnderTest } from 'daybook/testing'
import { tempDir } from '../support/temp.js'
import { beginOnSqlite } from './host-transactions.js'

/** Opens a new file for each case. */
export async function openSqlite({ clock }: { readonly clock: Clock }): Promise<StoreUnderTest> {
  const temp = tempDir()
  const filename = temp.file('audit.db')
  const open = () => sqliteStore({ filename, clock })
  return {
    store: open(),
    reopen: async () => open(),
    transaction: async () => beginOnSqlite(filename),
    interrupt: async () => beginOnSqlite(filename, 'IMMEDIATE').rollback,
    dispose: async () => temp.remove(),
  }
}
