import { localZone, setMember, zone } from '../data/address.js'
import { LOCAL } from '../data/local-zone.js'
import { chosenZone } from '../data/preferences.js'
import { dialog } from '../ui/dialog.js'
import { useKeys } from '../ui/keyboard.js'
import { cityOf } from '../ui/range-text.js'
import { texts } from '../ui/texts.js'

/** Shows times in a zone, now and in later visits. The address names the zone, so links keep it. */
export function chooseZone(name: string): void {
  chosenZone.value = name
  setMember('zone', name === LOCAL ? undefined : name, true)
}

/** The zone to return to from UTC. */
let otherZone = LOCAL

function toggleUtc(): void {
  if (zone.value === 'UTC') {
    chooseZone(otherZone)
    return
  }
  otherZone = zone.value === localZone ? LOCAL : zone.value
  chooseZone('UTC')
}

/** Names the time zone, and opens the choice of another one. */
export function ZoneButton() {
  useKeys({ u: toggleUtc })
  const title = texts.range.zone(zone.value)
  return (
    <button
      type="button"
      class="btn zone"
      title={title}
      aria-label={title}
      aria-haspopup="dialog"
      onClick={() => (dialog.value = 'zone')}
    >
      {cityOf(zone.value)}
    </button>
  )
}
