import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import type { AuditEvent } from '../../../src/event/event.js'

/** Marks the texts that free text finds. */
export interface Marker {
  text(text: string): ComponentChild
  /** The place of a found text that the row of the event does not show. */
  place(event: AuditEvent, shown: readonly string[]): ComponentChild
  /** True if some text of a value is found. */
  contains(value: unknown): boolean
}

/** The marker while the query has free text. Set by a module that is loaded with the first such query. */
export const marker = signal<Marker | undefined>(undefined)

/** The text with marks. */
export const marked = (text: string): ComponentChild => marker.value?.text(text) ?? text
