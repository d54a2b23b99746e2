import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'

/* Calls `process.exit` during its work. The argument selects the state: `waiting`, `lost`, or `closed`. */
const store = faultyStore(memoryStore())
const audit: AuditLog = new AuditLog({ store, types: {} })
audit.on('rejected', () => {})
const record = (): Promise<unknown> => audit.recordCustom('order').catch(() => {})

const [state] = process.argv.slice(2)
if (state === 'lost') {
  store.fail('append')
  await Promise.all([record(), record()])
} else {
  if (state === 'waiting') store.hang('append')
  const calls = [record(), record(), record()]
  if (state === 'closed') await Promise.all([...calls, audit.close()])
}
process.exit(3)
