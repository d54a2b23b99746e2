import { scalarsIn, valuesAt } from '../describing/attributes.js'
import type { JsonObject } from '../event/event.js'

/* The paths and templates of `OcsfMapping.set`. */

/** Returns the text for an event with these attributes; `undefined` if it lacks a named attribute. */
export type TextTemplate = (attributes: JsonObject) => string | undefined

/** Every second part is the content of braces. */
const PLACES = /\{([^{}]*)\}/

/** Reads `'{first_name} {last_name}'`. Throws a `SyntaxError`. */
export function readTextTemplate(template: string): TextTemplate {
  const parts = template.split(PLACES)
  if (parts.some((part, index) => index % 2 === 0 && /[{}]/.test(part)))
    throw new SyntaxError(`braces in ${JSON.stringify(template)} are not in pairs`)
  if (parts.some((part, index) => index % 2 === 1 && part === ''))
    throw new SyntaxError(`braces in ${JSON.stringify(template)} have no attribute`)
  return (attributes) => {
    const texts = parts.map((part, index) =>
      index % 2 === 0 ? part : scalarsIn(valuesAt(attributes, part)).join(', '),
    )
    const isComplete = texts.every((text, index) => index % 2 === 0 || text !== '')
    return isComplete ? texts.join('') : undefined
  }
}

const PATH = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*$/

/** True for names of OCSF attributes that are joined by dots. */
export const isOcsfPath = (path: string): boolean => PATH.test(path)

/** Sets a member of the object or of objects within it, which are created. Changes nothing if a list or a scalar is in the way. */
export function setAt(object: JsonObject, path: string, value: string | number): void {
  const names = path.split('.')
  const last = names.pop()!
  let inner = object
  for (const name of names) {
    const next = Object.hasOwn(inner, name) ? inner[name]! : (inner[name] = {})
    if (next === null || typeof next !== 'object' || Array.isArray(next)) return
    inner = next
  }
  inner[last] = value
}
