import { texts } from '../ui/texts.js'
import { State } from './status-message.js'

const CODE = `const audit = new AuditLog({ store: sqliteStore({ filename: 'audit.db' }), types: workflowEventTypes })
app.use(recordRequests(audit))
await audit.record('api:changes:create', { name: 'nightly' }, { username: 'ann' })`

/** The log is empty: how events come into it. */
export function NothingYet() {
  const { title, text } = texts.states.nothingYet
  return (
    <State art>
      <h2>{title}</h2>
      <p>{text}</p>
      <pre class="code">
        <code>{CODE}</code>
      </pre>
    </State>
  )
}
