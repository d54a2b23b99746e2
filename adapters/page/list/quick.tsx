import type { AuditEvent } from '../../../src/event/event.js'
import { changeQuery } from '../data/address.js'
import { texts } from '../ui/texts.js'
import { cellConjunct, type Column, withCell } from './cells.js'
import { customColumns } from './custom-columns.js'

export { PersonalMark } from '../personal/personal-mark.js'

const conjunctOf: typeof cellConjunct = (event, column, not) =>
  cellConjunct(event, column, not) ?? customColumns.value?.conjunct(event, column, not)

/** Filters by the value of a cell; does nothing if the cell has no filter. */
export function filterBy(event: AuditEvent, column: Column, not: boolean): void {
  const conjunct = conjunctOf(event, column, not)
  if (conjunct) changeQuery((query) => withCell(query, conjunct))
}

export interface QuickProps {
  readonly event: AuditEvent
  readonly column: Column
}

/** Buttons that filter by the value of a cell. */
export function Quick({ event, column }: QuickProps) {
  if (!conjunctOf(event, column, false)) return null
  return (
    <span class="quick">
      {[false, true].map((not) => (
        <button key={not} type="button" tabIndex={-1} onClick={() => filterBy(event, column, not)}>
          {not ? texts.list.isNot : texts.list.is}
        </button>
      ))}
    </span>
  )
}
