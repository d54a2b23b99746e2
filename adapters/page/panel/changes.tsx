import { useState } from 'preact/hooks'
import type { RecordedChange } from '../../../src/event/changes.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { formatNumber } from '../data/format.js'
import { formatBytes } from '../data/more-formats.js'
import { lackOf } from '../personal/note-text.js'
import { marked } from '../ui/marked.js'
import { texts } from '../ui/texts.js'
import { type ChangeRow, changeRow, recordedChanges } from './change-rows.js'
import { Segments } from '../ui/segmented-control.js'
import type { Piece } from './word-diff.js'

// Changes shown at first, and characters shown of each text.
const STEP = 50
const MAX_LENGTH = 10_000

type Mark = 'del' | 'ins'

function Side({ pieces, mark, alone }: { pieces: readonly Piece[]; mark: Mark; alone: boolean }) {
  const side = mark === 'del' ? 'old' : 'new'
  let room = MAX_LENGTH
  const shown = pieces.map(({ text, isChanged }) => {
    const part = text.slice(0, room)
    room -= part.length
    return { text: visibleText(part), isChanged }
  })
  const Changed = mark
  return (
    <div class={`side ${side}${alone ? ' only' : ''}`}>
      <span>
        <span aria-hidden="true">{mark === 'del' ? '−' : '+'}</span>
        <span class="visually-hidden">
          {mark === 'del' ? texts.panel.before : texts.panel.after}
        </span>
      </span>
      <span dir="auto">
        {shown.map(({ text, isChanged }, i) =>
          isChanged ? <Changed key={i}>{marked(text)}</Changed> : marked(text),
        )}
        {room <= 0 && '…'}
      </span>
    </div>
  )
}

interface Lack {
  /** The reason why values are not in the event. */
  readonly lack?: string | undefined
}

/** One changed value, before and after. */
export function ChangedValue({ path, kind, before, after, cutBytes, lack }: ChangeRow & Lack) {
  const isAlone = !before || !after
  return (
    <div>
      <h3>
        <bdi>{path === '' ? texts.panel.whole : visibleText(path)}</bdi>
        {kind !== 'changed' && <small>{texts.panel.kinds[kind]}</small>}
        {lack !== undefined && !before && !after && cutBytes === 0 && <small>{lack}</small>}
        {cutBytes > 0 && <small>{texts.panel.leftOut(formatBytes(cutBytes))}</small>}
      </h3>
      {before && <Side pieces={before} mark="del" alone={isAlone} />}
      {after && <Side pieces={after} mark="ins" alone={isAlone} />}
    </div>
  )
}

interface ChangedValuesProps {
  readonly changes: readonly RecordedChange[]
  /** The event that has recorded them, if there is one. */
  readonly event?: AuditEvent
}

/** Changed values; many are shown on request. */
export function ChangedValues({ changes, event }: ChangedValuesProps) {
  const cut = event?.attributes['changes_cut']
  const lack = event && lackOf(event)
  const [count, show] = useState(STEP)
  const more = changes.length - count
  return (
    <div class="diff">
      {changes.slice(0, count).map((change, i) => (
        <ChangedValue key={i} {...changeRow(change)} lack={lack} />
      ))}
      {more > 0 && (
        <button type="button" class="link" onClick={() => show(changes.length)}>
          {texts.panel.showMore(more)}
        </button>
      )}
      {typeof cut === 'number' && cut > 0 && <p class="hint">{texts.panel.changesCut(cut)}</p>}
    </div>
  )
}

const patchText = (changes: readonly RecordedChange[]): string =>
  `[\n${changes.map((change) => `  ${JSON.stringify(change)}`).join(',\n')}\n]`

/** The recorded changes of an event. */
export function Changes({ event }: { event: AuditEvent }) {
  const [isPatch, choose] = useState(false)
  const changes = recordedChanges(event.attributes['changes'])
  if (!changes) return null
  return (
    <section class="section" aria-label={texts.panel.changes}>
      <div class="section-head">
        <h2>{texts.panel.changes}</h2>
        <span class="number">{formatNumber(changes.length)}</span>
        <Segments
          label={texts.panel.showChanges}
          names={[texts.panel.beforeAfter, texts.panel.patch]}
          chosen={isPatch ? 1 : 0}
          choose={(index) => choose(index === 1)}
        />
      </div>
      {isPatch ? (
        <pre class="raw-text" tabIndex={0}>
          {visibleText(patchText(changes))}
        </pre>
      ) : (
        <ChangedValues changes={changes} event={event} />
      )}
    </section>
  )
}
