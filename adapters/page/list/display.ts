import { facetsText } from '../data/counts.js'
import { type Member, members, zone } from '../data/address.js'
import { columnsChoice } from '../data/preferences.js'

/**
 * How the page shows events now, as members of an address that shows the same to any user. Each feature that has such a
 * member has a line here.
 */
export const shownDisplay = (): Readonly<Partial<Record<Member, string>>> => ({
  facets: facetsText.value,
  zone: zone.value,
  // An empty text stands for the default columns, whatever the reader has chosen.
  columns: members.columns.value ?? columnsChoice.value ?? '',
  ...(members.groups.value !== undefined && { groups: members.groups.value }),
  ...(members.numbers.value !== undefined && { numbers: members.numbers.value }),
})
