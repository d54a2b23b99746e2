import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { downloadBlob } from '../data/download.js'
import { formatBytes } from '../data/more-formats.js'
import { marked } from '../ui/marked.js'
import { texts } from '../ui/texts.js'
import { copyText } from '../ui/copy-text.js'

// Longer texts take browsers too long to lay out.
const MAX_LENGTH = 200_000

/** The event as indented JSON, with the same fields as an export. */
export function JsonText({ event }: { event: AuditEvent }) {
  const text = JSON.stringify(event, null, 2)
  const save = (): void =>
    downloadBlob(new Blob([text], { type: 'application/json' }), `event-${event.id}.json`)
  return (
    <section class="section" aria-label={texts.panel.json}>
      <div class="section-head">
        <h2>{texts.panel.json}</h2>
        <span class="number">{formatBytes(text.length)}</span>
        <span class="seg">
          <button type="button" onClick={() => void copyText(text)}>
            {texts.panel.copyAll}
          </button>
          <button type="button" onClick={save}>
            {texts.panel.downloadAll}
          </button>
        </span>
      </div>
      <pre class="raw-text" tabIndex={0}>
        {marked(visibleText(text.slice(0, MAX_LENGTH)))}
        {text.length > MAX_LENGTH && '…'}
      </pre>
    </section>
  )
}
