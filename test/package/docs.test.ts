import fs from 'node:fs'
import path from 'node:path'
import { errorCodes, parseQuery } from 'daybook'
import { describe, expect, it } from 'vitest'
import config from '../../docs/.vitepress/config.js'
import manifest from '../../package.json' with { type: 'json' }
import { predicates } from '../../src/filter/predicates.js'
import { codeBlocks, deadLinks, type DocPage, docPages, root } from '../support/doc-pages.js'
import { generatedDocs } from '../support/docs.js'

it.each([...(await generatedDocs())].map(([file, text]) => [path.basename(file), file, text]))(
  '%s is what npm run docs:generate writes',
  (_name, file, text) => {
    expect(fs.readFileSync(file, 'utf8')).toBe(text)
  },
)

/** `ts` is compiled, `sh` and `js` are run, `json` is parsed. */
const LANGUAGES = new Set([
  'mermaid',
  'ts',
  'sh',
  'js',
  'cjs',
  'json',
  'html',
  'sql',
  'python',
  'text',
])

describe.each(docPages.map((page) => [page.file, page] as const))('%s', (_file, page) => {
  it('has code blocks of known languages only', () => {
    const others = page.blocks.filter(({ language }) => !LANGUAGES.has(language))
    expect(others.map(({ language, line }) => `${language} at line ${line}`)).toEqual([])
  })

  it('has valid JSON', () => {
    for (const { language, code } of page.blocks)
      if (language === 'json') expect(() => JSON.parse(code) as unknown).not.toThrow()
  })

  it('shows errors with their actual titles', () => {
    const shown = [...page.text.matchAll(/"code": "(\w+)",\s*"title": "([^"]*)"/g)]
    for (const [, code, title] of shown) expect(errorCodes).toHaveProperty(code!, title)
  })

  it('mentions only scripts of package.json', () => {
    const named = [...page.text.matchAll(/\bnpm run (?!-)([\w:-]+)/g)].map(([, script]) => script!)
    expect(named.filter((script) => !(script in manifest.scripts))).toEqual([])
  })

  it('has no dead links', () => {
    expect(deadLinks([page])).toEqual([])
  })

  it('names files that exist', () => {
    const named = page.text.matchAll(/`((?:test|examples)\/[\w./-]+\.\w+)`/g)
    const missing = [...named].filter(([, file]) => !fs.existsSync(path.join(root, file!)))
    expect(missing).toEqual([])
  })
})

describe('the documentation', () => {
  it('has fewer than ten blocks that are neither run nor compiled', () => {
    // The blocks of the tour are compared with the output of its commands.
    const others = docPages.filter(({ file }) => file !== 'docs/guide/tour.md')
    const plain = others.flatMap(({ blocks }) =>
      // The output of sessions in these blocks is generated.
      blocks.filter(({ language, code }) => language === 'text' && !code.startsWith('$ daybook')),
    )
    expect(plain.length).toBeLessThan(10)
  })

  it('begins with a README of at most 250 lines', () => {
    const readme = docPages.find(({ file }) => file === 'README.md')!
    expect(readme.text.split('\n').length).toBeLessThanOrEqual(250)
  })

  it('has each page in the sidebar of the site', () => {
    const links = Object.values(config.themeConfig.sidebar)
      .flat()
      .flatMap(({ items }) => items.map(({ link }) => link))
    const pages = docPages
      .map(({ file }) => /^docs\/(.+)\.md$/.exec(file)?.[1])
      .filter((page) => page !== undefined && page !== 'index')
      .map((page) => `/${page}`)
    expect(links.filter((link) => !link.startsWith('/api/')).toSorted()).toEqual(pages.toSorted())
  })
})

describe('a dead link', () => {
  const page = (text: string): Pick<DocPage, 'file' | 'text'> => ({
    file: 'docs/guide/tour.md',
    text,
  })

  it.each([
    ['a file', 'see [there](nowhere.md)', 'nowhere.md'],
    ['a heading', 'see [there](access.md#nothing)', 'access.md#nothing'],
    ['a heading of the same page', '## One\n\n[two](#two)', '#two'],
    ['an image', '![a picture](nowhere.png)', 'nowhere.png'],
  ])('to %s is reported', (_what, text, link) => {
    expect(deadLinks([page(text)])).toEqual([{ file: 'docs/guide/tour.md', link }])
  })

  it.each([
    ['a page and its heading', '[access](access.md#authentication)'],
    ['a heading of the same page', '## One, `two` & three\n\n[it](#one-two--three)'],
    ['another site', '[site](https://example.com/nothing.md)'],
    ['something in code', '`[x](nowhere.md)`\n\n```text\n[x](nowhere.md)\n```'],
  ])('is not reported for %s', (_what, text) => {
    expect(deadLinks([page(text)])).toEqual([])
  })
})

it('codeBlocks finds each code block with its language and its line number', () => {
  const text = 'one\n\n```ts\nconst a = `1`\n```\n\n```\nplain\n```\n'
  expect(codeBlocks(text)).toEqual([
    { language: 'ts', code: 'const a = `1`\n', line: 3 },
    { language: '', code: 'plain\n', line: 7 },
  ])
})

/** The rows of the table of predicates: name and example query. */
function predicateRows(): [name: string, example: string][] {
  const queries = fs.readFileSync(path.join(root, 'docs/reference/queries.md'), 'utf8')
  const [, table = ''] = /<!-- predicates -->([^]*)<!-- \/predicates -->/.exec(queries) ?? []
  return [...table.matchAll(/^\| `(\w+)` \| `(.+?)` \|/gm)].map(([, name, example]) => [
    name!,
    example!,
  ])
}

describe('the table of predicates', () => {
  it('has each predicate', () => {
    const plain = [...predicates.values()].filter(({ compound }) => compound === undefined)
    expect(
      predicateRows()
        .map(([name]) => name)
        .toSorted(),
    ).toEqual(plain.map(({ name }) => name).toSorted())
  })

  it.each(predicateRows())(
    'has an example of %s that parses to this predicate',
    (name, example) => {
      const { where } = parseQuery(example)
      expect(where?.conditions.map(({ predicate }) => predicate)).toEqual([name])
      expect(where?.groupings).toEqual([])
    },
  )
})

describe('ARCHITECTURE.md', () => {
  const { text } = docPages.find(({ file }) => file === 'ARCHITECTURE.md')!

  it('names files that exist', () => {
    const named = [...text.matchAll(/`((?:src|adapters|test)\/[\w./-]+)`/g)].map(
      ([, file]) => file!,
    )
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter((file) => !fs.existsSync(path.join(root, file)))).toEqual([])
  })
})
