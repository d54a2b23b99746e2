import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'

/*
 * Ends when nothing keeps the process alive. The argument is `left` for a tail that was left without `return`, or
 * `awaited` for a tail that is awaited.
 */
const audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
const [state] = process.argv.slice(2)
if (state === 'left') {
  await audit.recordCustom('early')
  const tail = audit.tail('', { after: '2000-01-01' })
  const { value } = await tail.next()
  console.log(value?.type)
} else {
  // Does not keep the process alive itself.
  setTimeout(() => void audit.recordCustom('late'), 300).unref()
  const { value } = await audit.tail().next()
  console.log(value?.type)
}
