package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/sandbox"
)

func folderFilesCommand(with func(*cobra.Command, func(client.Folders) error) error, stdio IO) *cobra.Command {
	var limit int
	folders := with
	with = func(cmd *cobra.Command, do func(client.Folders) error) error {
		return folders(cmd, func(f client.Folders) error { return folderFileError(do(f)) })
	}
	cmd := &cobra.Command{
		Use:   "files FOLDER",
		Short: "List the files of a folder, which its threads can read; add, get and remove some",
		Long: "List the files of a folder. Every thread in the folder sees them below " + sandbox.Folder +
			" and cannot change them: a run that\n" +
			"begins after a change sees it.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, func(f client.Folders) error {
				list, more, err := f.Files(cmd.Context(), args[0], limit)
				for i := range list {
					list[i].Path = strings.TrimPrefix(list[i].Path, sandbox.Folder+"/")
				}
				if err == nil && len(list) == 0 {
					fmt.Fprintln(stdio.Err, "No files yet. Add one with: pudu folders files add FOLDER FILE")
				}
				return errors.Join(err, printFiles(stdio, list, more))
			})
		},
	}
	limitFlag(cmd.Flags(), &limit, 1000, threadfiles.MaxEntries)
	cmd.AddCommand(addFolderFiles(with, stdio), getFolderFile(with, stdio), removeFolderFiles(with, stdio))
	return cmd
}

func addFolderFiles(with func(*cobra.Command, func(client.Folders) error) error, stdio IO) *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use: "add FOLDER FILE...", Short: "Put files into a folder; one of the same name is replaced",
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inFolder(path.Join(into, "file")); err != nil {
				return err
			}
			return with(cmd, func(f client.Folders) error {
				for _, name := range args[1:] {
					if err := addFolderFile(cmd.Context(), f, args[0], into, name); err != nil {
						return err
					}
					fmt.Fprintln(stdio.Err, "Added "+inert.Line(path.Join(into, filepath.Base(name)))+".")
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "the `SUBFOLDER` to put them into, such as notes/2026")
	return cmd
}

func addFolderFile(ctx context.Context, f client.Folders, folder, into, name string) error {
	h, err := os.Open(name)
	if err != nil {
		return usageError("%v", err)
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return usageError("%s is no regular file; name files, not folders", name)
	}
	return f.AddFile(ctx, folder, into, filepath.Base(name), h, info.Size())
}

func getFolderFile(with func(*cobra.Command, func(client.Folders) error) error, stdio IO) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "get FOLDER PATH", Short: "Write a file of a folder", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("out") {
				out = path.Base(args[1])
			}
			if err := inFolder(args[1]); err != nil {
				return err
			}
			err := with(cmd, func(f client.Folders) error {
				return writeNew(out, stdio.Out,
					func(w io.Writer) error { return f.ReadFile(cmd.Context(), args[0], args[1], w) })
			})
			if err == nil && out != "-" {
				fmt.Fprintln(stdio.Err, "Wrote "+out+".")
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "",
		"`FILE` to write, which must not exist; - is standard output (default: its name)")
	return cmd
}

func removeFolderFiles(with func(*cobra.Command, func(client.Folders) error) error, stdio IO) *cobra.Command {
	return &cobra.Command{
		Use: "rm FOLDER PATH...", Short: "Remove files of a folder", Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, func(f client.Folders) error {
				for _, name := range args[1:] {
					if err := inFolder(name); err != nil {
						return err
					}
					if err := f.RemoveFile(cmd.Context(), args[0], name); err != nil {
						return err
					}
					fmt.Fprintln(stdio.Err, "Removed "+inert.Line(name)+".")
				}
				return nil
			})
		},
	}
}

// inFolder refuses a path that leads nowhere below a folder.
func inFolder(name string) error {
	_, err := threadfiles.Below(sandbox.Folder, name)
	switch {
	case errors.Is(err, sandbox.ErrOutside):
		return usageError("the path leads out of the folder; name one below it, such as notes/a.txt")
	case err != nil:
		return usageError("%v", err)
	}
	return nil
}

// folderFileError says what is in the way of a command about a folder.
func folderFileError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; `pudu folders files FOLDER` lists what there is", err)
	}
	return err
}
