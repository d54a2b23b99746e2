import fs from 'node:fs'
import type { JsonObject } from 'daybook'
import * as examples from './examples.js'

interface Sentences {
  readonly type: string
  readonly attributes: JsonObject
  /** Sentences with a user and without, then both for an event without attributes. */
  readonly english: readonly string[]
  readonly german: readonly string[]
}

const resources: Readonly<Record<string, unknown>> = examples

/** The attributes of an example's resource, if one is named, and further attributes. */
const attributesOf = (resource = '', others = '{}'): JsonObject => ({
  ...(resources[resource] as JsonObject | undefined),
  ...(JSON.parse(others) as JsonObject),
})

/** The sentences with and without a user. A bar separates them, or they differ only in the user at the beginning. */
function bothOf(line: string): string[] {
  const [byAnn, byService = byAnn!.replace('ann: ', '')] = line.trim().split(' | ')
  return [byAnn!, byService]
}

/** Reads a type, its resource and its other attributes, followed by four lines of sentences. */
function readSentences(entry: string): Sentences {
  const [head, ...lines] = entry.split('\n')
  const [, type, resource, others] = /^(\S+)(?: (\w+))?(?: (\{.*))?$/.exec(head!)!
  const sentences = lines.flatMap(bothOf)
  return {
    type: type!,
    attributes: attributesOf(resource, others),
    english: sentences.slice(0, 4),
    german: sentences.slice(4),
  }
}

/** The sentences of the whole catalogue, in its order. */
export const workflowSentences: readonly Sentences[] = fs
  .readFileSync(new URL('../../fixtures/workflow-sentences.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split(/\n(?! )/)
  .map(readSentences)
