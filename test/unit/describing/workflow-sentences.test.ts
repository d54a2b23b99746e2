import fs from 'node:fs'
import { describeEvent, type EventTypes, sentenceText } from 'daybook'
import { workflowEventTypes as types } from 'daybook/workflow'
import { describe, expect, it } from 'vitest'
import { eventOf } from './examples.js'
import { workflowSentences } from './workflow-sentences.js'

describe('the sentences of the workflow catalogue', () => {
  it.each(workflowSentences)(
    '%s',
    (type, attributes, byAnn, byService, bareByAnn, bareByService) => {
      const sentences = [attributes, {}].flatMap((attributes) =>
        ['ann', null].map((username) =>
          sentenceText(describeEvent(eventOf({ type, username, attributes }), { types })),
        ),
      )
      expect(sentences).toEqual([byAnn, byService, bareByAnn, bareByService])
    },
  )

  it('exist for every type', () => {
    const fixture = new URL('../../fixtures/event-types.json', import.meta.url)
    const listed = JSON.parse(fs.readFileSync(fixture, 'utf8')) as { type: string }[]
    expect(workflowSentences.map(([type]) => type)).toEqual(listed.map(({ type }) => type))
  })

  it('differ from the sentence for an unknown type', () => {
    const definitions: EventTypes = types
    const unknown = workflowSentences.filter(([type, , , , , bare]) => {
      const words = type.split(':').slice(1).slice(-2).join(' ').replaceAll('_', ' ')
      return definitions[type]!.sentence === undefined && [words, `${words} failed`].includes(bare)
    })
    // Here a rule makes the same sentence.
    const same = ['info:image_build:started', 'info:image_build:failed']
    expect(unknown.map(([type]) => type)).toEqual(same)
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
