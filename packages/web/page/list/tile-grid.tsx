import type { JSX, RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ViewedFile } from '../api/connection.ts'
import { formatSize, splitName } from '../i18n/format.ts'
import { language, plural, t } from '../i18n/language.ts'
import {
  FolderIcon,
  KindIcon,
  openEntry,
  useRowMenu,
  withoutPrefix,
  type RowActions,
} from './file-row.tsx'
import { useActiveRow, useVirtualRows } from './file-grid.tsx'
import { fileKind } from './file-kind.ts'
import type { FileList } from './file-list-state.ts'
import { createTypeAhead, gridKey, selectRange, toggle, typedLetter } from './selection.ts'
import type { Thumbnails } from './thumbnails.ts'

interface TileGridProps {
  readonly files: FileList
  readonly actions: Omit<RowActions, 'select' | 'menu'>
  readonly thumbnails: Thumbnails
}

/** In pixels, as in the style sheet. */
const tile = { width: 148, height: 196 }

/** The entries of the list as tiles, with thumbnails of images. The document contains only those in sight. */
export function TileGrid({ files, actions, thumbnails }: TileGridProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null)
  const shown = files.visible.value
  const selected = files.selected.value
  const active = useActiveRow(shown, files.renamed.value)
  const current = Math.max(0, active.index)
  /** The name of the entry that gets the focus once it is the active one. */
  const takesFocus = useRef<string>()
  const columns = useColumns(scroller)
  const menu = useRowMenu(shown, actions)
  const typeAhead = useMemo(() => createTypeAhead(), [])
  const virtual = useVirtualRows(scroller, {
    count: Math.ceil(shown.length / columns),
    height: tile.height,
    active: Math.floor(current / columns),
    onSeen: ([first, end]) => (files.inView.value = [first * columns, end * columns]),
  })
  useEffect(() => {
    if (takesFocus.current === undefined || takesFocus.current !== shown[current]?.name) return
    takesFocus.current = undefined
    scroller.current
      ?.querySelector<HTMLElement>('.tile-open[tabindex="0"]')
      ?.focus({ preventScroll: true })
  })

  const onKeyDown = (event: KeyboardEvent) => {
    const file = shown[current]
    if (!file || event.target instanceof HTMLInputElement) return
    // With a modifier the arrows are the browser's: Alt and the left one go back.
    const isShortcut = event.altKey || event.ctrlKey || event.metaKey
    const letter = typedLetter(event)
    const place = { current, prefix: files.folder.value }
    const reached = () =>
      letter === undefined ? moved(event.key, current, columns) : typeAhead(letter, shown, place)
    const target = isShortcut ? undefined : reached()
    // Enter and Space press the button that has the focus.
    const key = gridKey(event, false)
    if (target !== undefined) {
      event.preventDefault()
      const index = Math.max(0, Math.min(target, shown.length - 1))
      if (event.shiftKey && letter === undefined)
        files.selected.value = selectRange(selected, shown, current, index)
      takesFocus.current = shown[index]?.name
      active.set(index)
      virtual.scrollTo(Math.floor(index / columns))
    } else if (key === 'selectAll') {
      event.preventDefault()
      files.selected.value = new Set(shown.map((each) => each.name))
    } else if (key === 'clear') files.selected.value = new Set()
    else if ((key === 'rename' || key === 'delete') && !event.repeat) {
      event.preventDefault()
      if (key === 'delete') takesFocus.current = (shown[current + 1] ?? shown[current - 1])?.name
      actions[key]?.(file)
    }
  }

  return (
    <div class="grid tiles" onKeyDown={onKeyDown} onContextMenu={menu.onContextMenu}>
      <div ref={scroller} class="rows">
        <ul
          class="tiles-all"
          aria-label={t('files')}
          style={{ height: `${virtual.height}px`, '--columns': columns }}
        >
          {virtual.rows.flatMap((row) =>
            shown
              .slice(row * columns, (row + 1) * columns)
              .map((file, column) => (
                <Tile
                  key={file.name}
                  file={file}
                  prefix={files.folder.value}
                  offset={{ row, column, index: row * columns + column, count: shown.length }}
                  isSelected={selected.has(file.name)}
                  isActive={row * columns + column === current}
                  thumbnails={thumbnails}
                  onOpen={actions.open}
                  onFocus={() => active.set(row * columns + column)}
                  onSelect={() => (files.selected.value = toggle(files.selected.value, file.name))}
                />
              )),
          )}
        </ul>
      </div>
      {menu.element}
    </div>
  )
}

/** The index to which a key leads; `undefined` for keys that lead nowhere. */
function moved(key: string, from: number, columns: number): number | undefined {
  const forward = document.dir === 'rtl' ? -1 : 1
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: forward,
    ArrowLeft: -forward,
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: 3 * columns,
    PageUp: -3 * columns,
    Home: -Infinity,
    End: Infinity,
  }
  const step = steps[key]
  return step === undefined ? undefined : from + step
}

/** How many tiles are beside each other. */
function useColumns(scroller: RefObject<HTMLElement>): number {
  const [columns, setColumns] = useState(1)
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const look = () => setColumns(Math.max(2, Math.floor(element.clientWidth / tile.width)))
    look()
    const resized = new ResizeObserver(look)
    resized.observe(element)
    return () => resized.disconnect()
  }, [scroller])
  return columns
}

interface TileProps {
  readonly file: ViewedFile
  readonly prefix: string
  readonly offset: {
    readonly row: number
    readonly column: number
    readonly index: number
    readonly count: number
  }
  readonly isSelected: boolean
  /** Whether the Tab key reaches this tile. */
  readonly isActive: boolean
  readonly thumbnails: Thumbnails
  readonly onOpen: RowActions['open']
  readonly onFocus: () => void
  readonly onSelect: () => void
}

function Tile(props: TileProps): JSX.Element {
  const { file, prefix, offset, isSelected, isActive, thumbnails, onOpen } = props
  const { folder } = file
  const name = folder?.title ?? file.name
  const [start, end] = folder ? [name, ''] : splitName(withoutPrefix(name, prefix))
  const tabIndex = isActive ? 0 : -1
  const size = formatSize(file.size, language.value)
  const facts = useId()
  return (
    <li
      class={isSelected ? 'tile tile-selected' : 'tile'}
      aria-setsize={offset.count}
      aria-posinset={offset.index + 1}
      data-index={offset.index}
      style={{
        insetBlockStart: `${offset.row * tile.height}px`,
        insetInlineStart: `calc(100% / var(--columns) * ${offset.column})`,
      }}
      onFocusIn={props.onFocus}
      {...(folder && { 'data-folder': folder.prefix, 'data-title': folder.title })}
    >
      <button
        type="button"
        class="tile-open"
        tabIndex={tabIndex}
        title={name}
        aria-label={folder ? t('openFolder', { name }) : onOpen ? t('open', { name }) : name}
        aria-describedby={facts}
        onClick={() => openEntry(file, onOpen)}
      >
        <span class="tile-picture">
          <Picture file={file} thumbnails={thumbnails} />
        </span>
        <bdi class="name-parts">
          <span class="name-start">{start}</span>
          <span class="name-end">{end}</span>
        </bdi>
      </button>
      <small id={facts}>{folder ? `${plural('fileCount', folder.count)} · ${size}` : size}</small>
      <input
        type="checkbox"
        class="tile-select"
        checked={isSelected}
        tabIndex={tabIndex}
        aria-label={t('select', { name })}
        onClick={props.onSelect}
      />
    </li>
  )
}

function Picture({ file, thumbnails }: Pick<TileProps, 'file' | 'thumbnails'>): JSX.Element {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    setUrl(undefined)
    if (!thumbnails.isFor(file)) return
    const ended = new AbortController()
    thumbnails.of(file, ended.signal).then(
      (made) => !ended.signal.aborted && setUrl(made),
      () => {
        // Then the icon stays.
      },
    )
    return () => ended.abort()
  }, [file.name, file.etag])
  if (url !== undefined) return <img src={url} alt="" onError={() => setUrl(undefined)} />
  return file.folder ? <FolderIcon /> : <KindIcon kind={fileKind(file)} />
}

/** In pixels. */
const side = 320
/** In pixels: a file of some bytes may be an image of gigabytes. */
const largestArea = 64_000_000

/**
 * Draws an image smaller; `undefined` if the browser cannot decode it, so that it is not downloaded again. `<img>` runs no scripts, not
 * even of SVG.
 */
export async function drawThumbnail(content: Blob): Promise<Blob | undefined> {
  const url = URL.createObjectURL(content)
  try {
    const image = new Image()
    await new Promise((resolve) => {
      image.addEventListener('load', resolve)
      // Then it has no size.
      image.addEventListener('error', resolve)
      image.src = url
    })
    const { naturalWidth: width, naturalHeight: height } = image
    if (width * height === 0 || width * height > largestArea) return undefined
    const isDecoded = await image.decode().then(
      () => true,
      () => false,
    )
    if (!isDecoded) return undefined
    const scale = Math.min(1, side / Math.max(width, height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(width * scale))
    canvas.height = Math.max(1, Math.round(height * scale))
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    return await new Promise((resolve) => {
      canvas.toBlob((picture) => resolve(picture ?? undefined), 'image/webp', 0.8)
    })
  } finally {
    URL.revokeObjectURL(url)
  }
}
