import { Icon } from '../ui/icon.js'
import { texts } from '../ui/texts.js'
import { addGroup, addTo, moveMember, removeMember, toggleGroup } from './edits.js'
import { AttributeField, PredicateField, ValueField } from './fields.js'
import { emptyRow, type Group, isGroup, type Row } from './model.js'
import { Picker } from './picker.js'
import { editedGroup, fieldId, focusField, picking } from './state.js'

const PARTS = ['attribute', 'predicate', 'value'] as const

/** Alt with an arrow key moves the row. The field keeps the focus. */
function moveRow(event: KeyboardEvent, row: Row): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined
  if (step === undefined || !event.altKey) return
  event.preventDefault()
  const { id } = event.target as HTMLElement
  editedGroup.value = moveMember(editedGroup.value, row.id, step)
  focusField(row.id, PARTS.find((part) => fieldId(row.id, part) === id) ?? 'attribute')
}

function Condition({ row, word }: { row: Row; word: string }) {
  return (
    <>
      <div class="condition" onKeyDown={(event) => moveRow(event, row)}>
        <span class="and">{word}</span>
        <AttributeField row={row} />
        <PredicateField row={row} />
        <ValueField row={row} />
        <button
          type="button"
          class="btn quiet square"
          aria-label={texts.builder.removeRow}
          onClick={() => (editedGroup.value = removeMember(editedGroup.value, row.id))}
        >
          <Icon name="x" />
        </button>
      </div>
      {picking.value?.id === row.id && <Picker />}
    </>
  )
}

/** Switches a group between all and any. */
export function AllOrAny({ group }: { group: Group }) {
  return (
    <button
      type="button"
      class="and-or"
      onClick={() => (editedGroup.value = toggleGroup(editedGroup.value, group.id))}
    >
      {group.combinator === 'and' ? texts.builder.all : texts.builder.any}
      <Icon name="down" />
    </button>
  )
}

export function AddTo({ group }: { group: Group }) {
  const row = emptyRow()
  const add = (next: Group): void => {
    editedGroup.value = next
    focusField(row.id, 'attribute')
  }
  return (
    <div class="builder-add">
      <button
        type="button"
        class="btn quiet small"
        onClick={() => add(addTo(editedGroup.value, group.id, row))}
      >
        <Icon name="plus" />
        {texts.builder.addCondition} <kbd>Enter</kbd>
      </button>
      <button
        type="button"
        class="btn quiet small"
        onClick={() => add(addGroup(editedGroup.value, group, row))}
      >
        <Icon name="plus" />
        {texts.builder.addGroup}
      </button>
    </div>
  )
}

/** The rows and nested groups of a group. */
export function Members({ group }: { group: Group }) {
  return (
    <>
      {group.members.map((member, index) => {
        const word = index === 0 ? '' : texts.common[group.combinator]
        if (!isGroup(member)) return <Condition key={member.id} row={member} word={word} />
        const name = member.combinator === 'and' ? texts.builder.all : texts.builder.any
        return (
          <div key={member.id} class="group" role="group" aria-label={texts.builder.group(name)}>
            <div class="builder-head">
              <span>{word}</span>
              <AllOrAny group={member} />
              <span>{texts.builder.ofThese}</span>
            </div>
            <Members group={member} />
            <AddTo group={member} />
          </div>
        )
      })}
    </>
  )
}
