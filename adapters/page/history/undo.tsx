import type { JsonObject, JsonValue } from '../../../src/event/event.js'
import type { RecordedChange } from '../../../src/event/changes.js'
import type { Operation } from '../../../src/event/json-patch.js'
import { changeRow } from '../panel/change-rows.js'
import { ChangedValue, ChangedValues } from '../panel/changes.js'
import { copyText } from '../ui/copy-text.js'
import { historyTexts as words } from './history-texts.js'
import type { Change, HistoryEntry } from './read-history.js'
import { undoEffects } from './undo-effects.js'

const isObject = (value: JsonValue): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The operations of the patch with the values that it expects. */
function expected(revert: readonly Operation[]): RecordedChange[] {
  let old: JsonValue | undefined
  return revert.flatMap((operation) => {
    if (operation.op === 'test') {
      old = operation.value as JsonValue
      return []
    }
    const change = { ...operation, ...(old !== undefined && { old_value: old }) }
    old = undefined
    return [change as RecordedChange]
  })
}

function Effects({ revert, present }: { revert: readonly Operation[]; present: JsonObject }) {
  const effects = undoEffects(revert, present)
  return (
    <>
      <p>{words.undoTitle}</p>
      {effects.length === 0 && <p class="hint">{words.nothing}</p>}
      <div class="diff">
        {effects.map(({ change, isChangedSince }, i) => (
          <div key={i}>
            <ChangedValue {...changeRow(change)} />
            {isChangedSince && <p class="changed-since">{words.changedSince}</p>}
          </div>
        ))}
      </div>
    </>
  )
}

function WithPatch({ revert, newest }: { revert: readonly Operation[]; newest: Change }) {
  const { known, state } = newest
  if (known && state === null) return <p>{words.undoGone}</p>
  return (
    <>
      {known && isObject(state) ? (
        <Effects revert={revert} present={state} />
      ) : (
        <>
          <p>{words.undoUnknown}</p>
          <ChangedValues changes={expected(revert)} />
        </>
      )}
      <p class="hint">{words.patchHint}</p>
      <button
        type="button"
        class="btn small"
        onClick={() => void copyText(JSON.stringify(revert, null, 2))}
      >
        {words.copyPatch}
      </button>
    </>
  )
}

interface UndoProps {
  readonly change: Change
  /** The newest change of the resource, with the current state. */
  readonly newest: HistoryEntry
}

/** The changes that undoing a change would make now. */
export function Undo({ change: { revert, not_revertible }, newest }: UndoProps) {
  return (
    <div class="undo">
      {revert ? (
        <WithPatch revert={revert} newest={newest.change} />
      ) : (
        <p>
          {words.notUndoable} <span lang="en">{not_revertible}</span>
        </p>
      )}
    </div>
  )
}
