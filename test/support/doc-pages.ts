import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/* The pages of the documentation, found by folder, in the form that tests need. */

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface CodeBlock {
  readonly language: string
  readonly code: string
  /** Line of its first fence, from 1. */
  readonly line: number
}

export interface DocPage {
  /** Relative to the repository, such as `docs/guide/tour.md`. */
  readonly file: string
  readonly text: string
  readonly blocks: readonly CodeBlock[]
}

/** Folders in `docs` that are not written by hand. */
const GENERATED = /^(?:api|benchmarks|node_modules|\.vitepress)(?:\/|$)/

function pageFiles(): string[] {
  const atRoot = fs
    .readdirSync(root)
    .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
  const inDocs = fs
    .readdirSync(path.join(root, 'docs'), { withFileTypes: true })
    .filter(({ name }) => !GENERATED.test(name))
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn(`docs/${entry.name}`) : `docs/${entry.name}`,
    )
    .filter((file) => file.endsWith('.md'))
  return [...atRoot.toSorted(), ...inDocs.toSorted()]
}

const filesIn = (folder: string): string[] =>
  fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)

const FENCE = /^(```+)([^\n`]*)\n([^]*?)^\1$/gm

export function codeBlocks(text: string): CodeBlock[] {
  return [...text.matchAll(FENCE)].map(({ 2: language, 3: code, index }) => ({
    // A tab has a title in brackets.
    language: language!.replace(/\[.*/, '').trim(),
    code: code!,
    line: text.slice(0, index).split('\n').length,
  }))
}

/** The Markdown files at the root and below `docs`, without generated ones. */
export const docPages: readonly DocPage[] = pageFiles().map((file) => {
  const text = fs.readFileSync(path.join(root, file), 'utf8')
  return { file, text, blocks: codeBlocks(text) }
})

export const blocksOf = (page: DocPage, language: string): readonly CodeBlock[] =>
  page.blocks.filter((block) => block.language === language)

/** The text without code blocks and inline code. */
export const proseOf = (text: string): string =>
  text.replaceAll(FENCE, '').replaceAll(/`[^`\n]*`/g, '')

/** The anchors of a page's headings, as GitHub and VitePress make them. */
export function anchorsOf(text: string): Set<string> {
  const headings = text.replaceAll(FENCE, '').matchAll(/^#{1,6} (.+)$/gm)
  return new Set(
    [...headings].map(([, heading]) =>
      heading!
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

export interface DeadLink {
  readonly file: string
  readonly link: string
}

/** Relative links and images of the pages whose file, or heading in the file, does not exist. */
export function deadLinks(pages: readonly Pick<DocPage, 'file' | 'text'>[]): DeadLink[] {
  return pages.flatMap(({ file, text }) =>
    [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link!)
      .filter((link) => !/^[a-z]+:/.test(link) && isDead(file, text, link))
      .map((link) => ({ file, link })),
  )
}

function isDead(file: string, text: string, link: string): boolean {
  const [to = '', anchor] = link.split('#')
  const target = to === '' ? file : path.join(path.dirname(file), decodeURIComponent(to))
  if (!fs.existsSync(path.join(root, target))) return true
  if (anchor === undefined || !target.endsWith('.md')) return false
  const anchors = anchorsOf(
    target === file ? text : fs.readFileSync(path.join(root, target), 'utf8'),
  )
  return !anchors.has(anchor)
}
