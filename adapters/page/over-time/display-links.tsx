import { useState } from 'preact/hooks'
import { fault, members, setMember } from '../data/address.js'
import { lazy } from '../ui/lazy.js'
import { displayTexts } from './display-texts.js'

const ColumnsSheet = lazy(() => import('../columns/columns-sheet.js'), 'ColumnsSheet')

/** Switches between the list and the table of groups, and opens the choice of columns. */
export function DisplayLinks() {
  const [isOpen, open] = useState(false)
  if (fault.value) return null
  const isGrouped = members.groups.value !== undefined
  return (
    <>
      <button
        type="button"
        class="link subscribe"
        aria-pressed={isGrouped}
        onClick={() => setMember('groups', isGrouped ? undefined : 'type')}
      >
        {displayTexts.groups}
      </button>
      {!isGrouped && (
        <button
          type="button"
          class="link subscribe"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => open(true)}
        >
          {displayTexts.columns}
        </button>
      )}
      {isOpen && <ColumnsSheet close={() => open(false)} />}
    </>
  )
}
