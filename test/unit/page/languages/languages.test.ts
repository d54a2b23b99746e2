import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vite'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { words } from '../../../support/words.js'

const root = fileURLToPath(new URL('../../../../adapters/page', import.meta.url))
const files = fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()
const featureTexts = files.filter((file) => file.endsWith('-texts.ts'))

/** Texts that are the same in both languages. */
const SAME: ReadonlySet<string> = new Set([
  '±  min',
  'JSON Patch',
  ...words(`
    CSV Daybook Enter Esc Export Filter Format GET JSON Link Live Name Offline SHA- Slack URL UUID
    created_at curl live optional
  `),
])

afterAll(() => vi.unstubAllGlobals())
beforeEach(() => vi.resetModules())

/** Loads a module of the page as in a browser with a document of this language. */
async function load(file: string, lang: string): Promise<Record<string, unknown>> {
  vi.resetModules()
  vi.stubGlobal('document', { documentElement: { lang, dataset: {} } })
  vi.stubGlobal('location', { search: '', hash: '', pathname: '/' })
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined })
  vi.stubGlobal('navigator', { languages: [lang], platform: 'Linux' })
  return (await import(path.join(root, file))) as Record<string, unknown>
}

type Leaf = readonly [key: string, text: unknown]

/** Values for the first parameter of texts. Each text takes one or more of them. */
const SAMPLES = [2, 'a', ['a']] as const

function textsFor(write: (...values: unknown[]) => unknown, key: string): Leaf[] {
  const written = SAMPLES.flatMap((sample): Leaf[] => {
    try {
      return leaves(write(sample, 'x', 'y', 'z'), `${key}(${JSON.stringify(sample)})`)
    } catch {
      // This text does not accept the value.
      return []
    }
  })
  if (written.length === 0) throw new Error(`no sample fits the parameters of ${key}`)
  return written
}

/** All texts of a module by their keys. Functions are called with sample values. */
function leaves(value: unknown, key = ''): Leaf[] {
  if (typeof value === 'function') return textsFor(value as () => unknown, key)
  if (value === null || typeof value !== 'object') return [[key, value]]
  return Object.entries(value).flatMap(([name, member]) => leaves(member, `${key}.${name}`))
}

/** The text without numbers and sample values. */
const wordsOf = (text: unknown): string =>
  typeof text === 'string' ? text.replaceAll(/NaN|\b[axyz]\b|\d/g, '').trim() : ''

const isWords = (words: string): boolean => /\p{L}{2}/u.test(words) && !SAME.has(words)

/** Texts that a user would see in English on a German page. */
function untranslated(english: unknown, german: unknown): Leaf[] {
  const there = new Map(leaves(german))
  return leaves(english).filter(([key, text]) => there.get(key) === text && isWords(wordsOf(text)))
}

describe('the texts of the page', () => {
  it('are all translated', async () => {
    const { texts: english } = await load('ui/texts.ts', 'en')
    const { texts: german } = await load('ui/texts.ts', 'de')
    const keys = leaves(english).map(([key]) => key)
    expect(keys.length).toBeGreaterThan(300)
    expect(leaves(german).map(([key]) => key)).toEqual(keys)
    expect(untranslated(english, german)).toEqual([])
  })

  it.each(featureTexts)('of %s are all translated', async (file) => {
    const english = leaves(await load(file, 'en'))
    const german = leaves(await load(file, 'de'))
    expect(german.map(([key]) => key)).toEqual(english.map(([key]) => key))
    expect(untranslated(Object.fromEntries(english), Object.fromEntries(german))).toEqual([])
  })

  it('are in no other file', () => {
    const found = files
      .filter((file) => file.endsWith('.tsx'))
      .flatMap((file) =>
        textsIn(fs.readFileSync(path.join(root, file), 'utf8')).map((text) => `${file}: ${text}`),
      )
    expect(found).toEqual([])
  })

  it('are found in markup', () => {
    const source = 'const a = <p title="Find me" class="not me">And me <b>{0} x</b></p>'
    expect(textsIn(source)).toEqual(['Find me', 'And me'])
  })
})

const TEXT_ATTRIBUTES: ReadonlySet<unknown> = new Set([
  'aria-label',
  'label',
  'placeholder',
  'title',
])

interface Node {
  readonly type?: string
  readonly name?: { readonly name?: unknown }
  readonly value?: unknown
}

/** Words in the markup of a module, and in the attributes that users read. */
function textsIn(source: string): string[] {
  const found: unknown[] = []
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return
    const { type, name, value } = node as Node
    if (type === 'JSXText') found.push(value)
    if (type === 'JSXAttribute' && TEXT_ATTRIBUTES.has(name?.name)) {
      const literal = value as Node | null
      if (literal?.type === 'Literal') found.push(literal.value)
    }
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseAst(source, { lang: 'tsx' }))
  const texts = found.map((text) => String(text).trim())
  return texts.filter(isWords)
}
