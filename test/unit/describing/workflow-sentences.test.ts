import fs from 'node:fs'
import {
  defineEventTypes,
  describeEvent,
  english,
  type EventTypes,
  german,
  type JsonObject,
  sentenceText,
} from 'daybook'
import { workflowEventTypes as types } from 'daybook/workflow'
import { describe, expect, it } from 'vitest'
import { eventOf } from './examples.js'
import { ownEventTypes } from '../../../src/recording/own-event-types.js'
import { workflowSentences } from './workflow-sentences.js'

/** Words that only one of the languages has. */
const ENGLISH =
  /(?<!\p{L})(?:the|of|could|not|and|with|failed|created|updated|deleted|started|finished|is|are|by|from|for|its|project|change|step|be|removed)(?!\p{L})/iu
const GERMAN =
  /(?<!\p{L})(?:der|das|und|nicht|wurde|konnte|hat|eine|einen|von|im|mit|ist|nach|auf|für|aus|Änderung|Schritt|Projekt)(?!\p{L})/iu

/** Sentences by a user and by the service, then both for an event without attributes. */
function sentencesOf(type: string, attributes: JsonObject, language = english): string[] {
  return [attributes, {}].flatMap((attributes) =>
    ['ann', null].map((username) => {
      const event = eventOf({ type, username, attributes })
      return sentenceText(describeEvent(event, { types, language }), language)
    }),
  )
}

const textsOf = (value: unknown): string[] =>
  value !== null && typeof value === 'object'
    ? Object.values(value).flatMap(textsOf)
    : [String(value)]

/** The sentence without the values of the event. */
const wordsOf = (sentence: string, attributes: JsonObject): string =>
  textsOf(attributes)
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, value) => rest.replaceAll(value, '…'), sentence)

describe('the sentences of the log itself', () => {
  it('exist in both languages', () => {
    const definitions: EventTypes = ownEventTypes
    const untranslated = Object.entries(definitions).filter(
      ([, { sentence, sentences }]) => sentence !== undefined && sentences?.['de'] === undefined,
    )
    expect(untranslated).toEqual([])
    for (const [type, { sentences }] of Object.entries(definitions)) {
      const words = (sentences?.['de'] ?? '').replaceAll(/\{[^{}/]*\}/g, '')
      expect(words, type).not.toMatch(ENGLISH)
      expect(() => defineEventTypes({ [type]: definitions[type]! })).not.toThrow()
    }
  })
})

describe('the sentences of the workflow catalogue', () => {
  it.each(workflowSentences)('$type', ({ type, attributes, ...expected }) => {
    expect(sentencesOf(type, attributes)).toEqual(expected.english)
    expect(sentencesOf(type, attributes, german)).toEqual(expected.german)
  })

  it.each(workflowSentences)('$type has no words of another language', ({ type, attributes }) => {
    for (const sentence of sentencesOf(type, attributes))
      expect(wordsOf(sentence, attributes)).not.toMatch(GERMAN)
    for (const sentence of sentencesOf(type, attributes, german))
      expect(wordsOf(sentence, attributes)).not.toMatch(ENGLISH)
  })

  it('have a template for every type in both languages', () => {
    const definitions: EventTypes = types
    const missing = Object.entries(definitions).filter(
      ([, { sentence, sentences }]) => sentence === undefined || sentences?.['de'] === undefined,
    )
    expect(missing).toEqual([])
    expect(workflowSentences.map(({ type }) => type)).toEqual(Object.keys(types))
  })

  it('exist for every type', () => {
    const fixture = new URL('../../fixtures/event-types.json', import.meta.url)
    const listed = JSON.parse(fs.readFileSync(fixture, 'utf8')) as { type: string }[]
    expect(workflowSentences.map(({ type }) => type)).toEqual(listed.map(({ type }) => type))
  })

  it('contain no secret values', () => {
    for (const type of ['api:secrets:encrypt', 'api:secrets:resolve'])
      for (const username of ['ann', null]) {
        const attributes = {
          secret: 'hunter2',
          value: 'hunter2',
          request_body: { secret: 'hunter2' },
        }
        const text = sentenceText(describeEvent(eventOf({ type, username, attributes }), { types }))
        expect(text).not.toContain('hunter2')
      }
  })
})
