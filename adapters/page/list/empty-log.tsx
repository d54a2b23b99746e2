import { texts } from '../ui/texts.js'
import { StatusMessage } from './status-message.js'

const CODE = `const audit = new AuditLog({ store: sqliteStore({ filename: 'audit.db' }), types: workflowEventTypes })
app.use(recordRequests(audit))
await audit.record('api:changes:create', { name: 'nightly' }, { username: 'ann' })`

/** Shown when the log is empty: the code that records events. */
export function EmptyLog() {
  const { title, text } = texts.states.nothingYet
  return (
    <StatusMessage art>
      <h2>{title}</h2>
      <p>{text}</p>
      <pre class="code">
        <code>{CODE}</code>
      </pre>
    </StatusMessage>
  )
}
