import { useState } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { JsonValue } from '../../../src/event/event.js'
import { leavesOf } from '../panel/leaves.js'
import { texts } from '../ui/texts.js'
import { historyTexts as words } from './history-texts.js'

// Values shown at first, and characters shown of each.
const STEP = 100
const MAX_LENGTH = 2000

const REDACTED = '[redacted]'

function Value({ value }: { value: JsonValue }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return (
    <>
      <span dir="auto">
        {visibleText(text.slice(0, MAX_LENGTH))}
        {text.length > MAX_LENGTH && '…'}
      </span>
      {text.includes(REDACTED) && <small class="tag">{words.redacted}</small>}
    </>
  )
}

/** The values of a state by their paths. */
export function StateValues({ state }: { state: JsonValue }) {
  const [count, show] = useState(STEP)
  const leaves = leavesOf(state)
  const more = leaves.length - count
  if (leaves.length === 1 && leaves[0]!.path === '' && JSON.stringify(state) === '{}')
    return <p class="hint">{words.emptyState}</p>
  return (
    <>
      <dl class="state-values">
        {leaves.slice(0, count).map(({ path, value }) => (
          <div key={path}>
            <dt>
              <bdi>{path === '' ? texts.panel.whole : visibleText(path)}</bdi>
            </dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
      {more > 0 && (
        <button type="button" class="link" onClick={() => show(leaves.length)}>
          {words.moreValues(more)}
        </button>
      )}
    </>
  )
}
