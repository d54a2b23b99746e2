import type { Condition } from '../../../src/filter/ast.js'
import { changeQuery } from '../data/address.js'
import { withConjunct } from '../data/query.js'
import { texts } from '../ui/texts.js'
import { copyText } from '../ui/copy-text.js'

export const filterBy = (condition: Condition | undefined): void => {
  if (condition) changeQuery((query) => withConjunct(query, condition))
}

export interface ValueActionsProps {
  readonly is: Condition | undefined
  readonly isNot: Condition | undefined
  /** Returns the text to copy. */
  readonly copied?: (() => string) | undefined
  /** True if the buttons are in the tab order. */
  readonly inTabOrder?: boolean
}

/** Buttons to filter by a value or copy it. */
export function ValueActions({ is, isNot, copied, inTabOrder = true }: ValueActionsProps) {
  const tabIndex = inTabOrder ? 0 : -1
  return (
    <span class="quick">
      {is && (
        <button type="button" tabIndex={tabIndex} onClick={() => filterBy(is)}>
          {texts.panel.is}
        </button>
      )}
      {isNot && (
        <button type="button" tabIndex={tabIndex} onClick={() => filterBy(isNot)}>
          {texts.panel.isNot}
        </button>
      )}
      {copied && (
        <button type="button" tabIndex={tabIndex} onClick={() => void copyText(copied())}>
          {texts.panel.copy}
        </button>
      )}
    </span>
  )
}
