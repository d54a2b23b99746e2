import { useSignal } from '@preact/signals'
import { localZone, zone } from '../data/address.js'
import { formatNumber } from '../data/format.js'
import { LOCAL } from '../data/local-zone.js'
import { chosenZone } from '../data/preferences.js'
import { dialog } from '../ui/dialog.js'
import { Icon } from '../ui/icon.js'
import { useDialog } from '../ui/native-dialog.js'
import { cityOf } from '../ui/range-text.js'
import { offsetText } from '../data/zoned-time.js'
import { allZones, findZones, type ZoneOption } from './zone-options.js'
import { chooseZone } from './zone-button.js'
import { zoneTexts } from './zone-texts.js'

const ID = 'zones'
const MAX_SHOWN = 60

const close = (): void => {
  dialog.value = undefined
}

function choose({ name }: ZoneOption): void {
  chooseZone(name)
  close()
}

const nameOf = ({ name, zone }: ZoneOption): string =>
  name === LOCAL ? zoneTexts.local(cityOf(zone)) : zone.replaceAll('_', ' ')

const isChosen = ({ name, zone: shown }: ZoneOption): boolean =>
  chosenZone.value === LOCAL ? name === LOCAL && shown === zone.value : name === zone.value

const zones = allZones(localZone, zoneTexts.local(''))

function Option({ option, id, isActive }: { option: ZoneOption; id: string; isActive: boolean }) {
  return (
    <li
      id={id}
      role="option"
      aria-selected={isActive}
      // Keeps the focus in the field.
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => choose(option)}
    >
      <span>{nameOf(option)}</span>
      {isChosen(option) && <Icon name="check" />}
      <code>{offsetText(new Date(), option.zone)}</code>
    </li>
  )
}

/** Chooses the time zone of the page: local time, UTC, or any other by its city. */
export function ZonePicker() {
  const text = useSignal('')
  const active = useSignal(0)
  const found = findZones(zones, text.value)
  const shown = found.slice(0, MAX_SHOWN)

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const option = shown[active.value]
    if (step !== undefined && option) {
      active.value = (active.value + step + shown.length) % shown.length
      document.getElementById(`${ID}-${active.value}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter' && !event.isComposing) {
      if (option) choose(option)
    } else return
    event.preventDefault()
  }

  return (
    <dialog class="dropdown zone-picker" aria-label={zoneTexts.title} {...useDialog(close)}>
      <input
        type="text"
        role="combobox"
        aria-label={zoneTexts.find}
        aria-expanded={shown.length > 0}
        aria-autocomplete="list"
        aria-controls={`${ID}-options`}
        aria-activedescendant={shown.length > 0 ? `${ID}-${active.value}` : undefined}
        placeholder={zoneTexts.find}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        enterkeyhint="done"
        value={text.value}
        onInput={({ currentTarget: { value } }) => {
          text.value = value
          active.value = 0
        }}
        onKeyDown={onKeyDown}
      />
      <ul id={`${ID}-options`} role="listbox" aria-label={zoneTexts.title}>
        {shown.map((option, index) => (
          <Option
            key={option.name}
            option={option}
            id={`${ID}-${index}`}
            isActive={index === active.value}
          />
        ))}
      </ul>
      {shown.length === 0 && <p role="status">{zoneTexts.none(text.value)}</p>}
      {found.length > shown.length && (
        <p>{zoneTexts.more(formatNumber(found.length - shown.length))}</p>
      )}
    </dialog>
  )
}
