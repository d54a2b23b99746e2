import { facetsText } from '../data/counts.js'
import { type Member, members, zone } from '../data/address.js'
import { columnsChoice } from '../data/preferences.js'

/**
 * The current display of the page, as members of an address that shows the same to any user. Each feature with such a
 * member has a line here.
 */
export const shownDisplay = (): Readonly<Partial<Record<Member, string>>> => ({
  facets: facetsText.value,
  zone: zone.value,
  // An empty text means the default columns, whatever the reader has chosen.
  columns: members.columns.value ?? columnsChoice.value ?? '',
  ...(members.groups.value !== undefined && { groups: members.groups.value }),
  ...(members.numbers.value !== undefined && { numbers: members.numbers.value }),
})
