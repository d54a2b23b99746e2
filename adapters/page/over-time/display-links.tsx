import { fault, members, setMember } from '../data/address.js'
import { displayTexts } from './display-texts.js'

/** Switches between the list and the table of groups. */
export function DisplayLinks() {
  if (fault.value) return null
  const isGrouped = members.groups.value !== undefined
  return (
    <button
      type="button"
      class="link subscribe"
      aria-pressed={isGrouped}
      onClick={() => setMember('groups', isGrouped ? undefined : 'type')}
    >
      {displayTexts.groups}
    </button>
  )
}
