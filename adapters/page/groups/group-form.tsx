import { useEffect, useRef } from 'preact/hooks'
import { filterableAttributes, loadFilterOptions } from '../data/filter-options.js'
import { closeGroups, groupBy, grouped } from './group-state.js'
import { groupsTexts } from './groups-texts.js'

const NAMES = 'group-names'
const NUMBERS = 'group-numbers'
/** Attributes whose values are all different. */
const UNIQUE: ReadonlySet<string> = new Set(['id', 'created_at'])

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly list: string
  readonly isRequired?: boolean
}

function Field({ label, value, list, isRequired = false }: FieldProps) {
  return (
    <label>
      {label}{' '}
      <input
        // Resets the field when the value in the address changes.
        key={value}
        defaultValue={value}
        list={list}
        required={isRequired}
        placeholder={isRequired ? groupsTexts.attribute : groupsTexts.optional}
        onFocus={(event) => event.currentTarget.select()}
        autocomplete="off"
        spellcheck={false}
      />
    </label>
  )
}

/** The attributes by which the table groups. */
export function GroupForm() {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    loadFilterOptions()
    form.current!.querySelector('input')!.focus()
  }, [])
  const { by, numbers } = grouped.value!
  const submit = (event: Event): void => {
    event.preventDefault()
    const [first, second, number] = Array.from(form.current!.querySelectorAll('input'), (input) =>
      input.value.trim(),
    )
    const names = [...new Set([first!, second!])].filter(Boolean)
    groupBy({ by: names, numbers: [number!].filter(Boolean) })
  }
  const known = filterableAttributes.value
  return (
    <form class="group-form" ref={form} onSubmit={submit}>
      <Field label={groupsTexts.by} value={by[0]!} list={NAMES} isRequired />
      <Field label={groupsTexts.and} value={by[1] ?? ''} list={NAMES} />
      <Field label={groupsTexts.numbers} value={numbers[0] ?? ''} list={NUMBERS} />
      <button type="submit" class="btn small main">
        {groupsTexts.apply}
      </button>
      <button type="button" class="btn small" onClick={closeGroups}>
        {groupsTexts.close}
      </button>
      <datalist id={NAMES}>
        <option value="level" />
        {known.map(({ name }) => !UNIQUE.has(name) && <option key={name} value={name} />)}
      </datalist>
      <datalist id={NUMBERS}>
        {known.map(
          ({ name, types }) => types.includes('number') && <option key={name} value={name} />,
        )}
      </datalist>
    </form>
  )
}
