import type { Signal } from '@preact/signals'
import type { ComponentChildren, RefObject, TargetedEvent } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { ApiError } from '../data/api.js'

interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
  /** Returns the control, with the given id and description. */
  readonly children: (control: { id: string; 'aria-describedby'?: string }) => ComponentChildren
}

/** A labelled control with a hint below. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId()
  const hintId = `${id}-hint`
  return (
    <div class="managed-field">
      <label for={id}>{label}</label>
      {children(hint === undefined ? { id } : { id, 'aria-describedby': hintId })}
      {hint !== undefined && <small id={hintId}>{hint}</small>}
    </div>
  )
}

interface TextFieldProps {
  readonly label: string
  readonly name: string
  readonly value: Signal<string>
  /** @default 'text' */
  readonly type?: 'text' | 'url' | 'datetime-local'
  readonly isRequired?: boolean
  /** A regular expression that the value has to match. */
  readonly pattern?: string | undefined
  readonly hint?: string | undefined
  readonly placeholder?: string | undefined
  /** The name of the field that the service objects to. */
  readonly invalid?: string | undefined
}

export function TextField(props: TextFieldProps) {
  const { label, hint, name, value, type = 'text', isRequired = false, invalid, ...rest } = props
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <input
          {...rest}
          {...control}
          // The types of Preact allow only a literal.
          {...({ type } as { type: 'text' })}
          name={name}
          {...(type === 'datetime-local' && { step: '1' })}
          value={value.value}
          required={isRequired}
          autocomplete="off"
          aria-invalid={invalid === name}
          onInput={(event) => (value.value = event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** The name of a subscription or a channel. */
export const NAME_PATTERN = '[a-z0-9_\\-]{1,63}'

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly name: string
  readonly chosen: Value
  readonly choose: (value: Value) => void
  readonly options: readonly (readonly [value: Value, text: string])[]
}

/** One of some options, as radio buttons. */
export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, name, chosen, choose, options } = props
  return (
    <fieldset class="managed-choice">
      <legend>{label}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            checked={chosen === option}
            onChange={() => choose(option)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

/** The name of the invalid field: the last part of the pointer in the response. */
export function invalidField(error: Error | undefined): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const { code, source } = error.problem ?? {}
  return code === 'NAME_TAKEN' ? 'name' : source?.pointer?.split('/').at(-1)
}

/** Moves the focus to the field that the service objects to. */
export function useInvalidFocus(error: Error | undefined): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])
  return form
}

/** Returns a handler that calls `act` instead of sending the form. */
export const onSubmit =
  (act: () => void) =>
  (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault()
    act()
  }
