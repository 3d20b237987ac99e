package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

func foldersCommand(app App, o *Options, stdio IO) *cobra.Command {
	with := func(cmd *cobra.Command, do func(client.Folders) error) error {
		err := settle(cmd, app, o, func(c *client.Client) error { return do(client.Folders{Client: c}) })
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("%w; `pudu folders` and `pudu threads` list what there is", err)
		}
		if coded, ok := errors.AsType[*codeError](err); ok {
			return coded
		}
		return failedWith(err)
	}
	change := func(use, short string, args int, done string,
		do func(context.Context, client.Folders, []string) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(args),
			RunE: func(cmd *cobra.Command, args []string) error {
				err := with(cmd, func(fs client.Folders) error { return do(cmd.Context(), fs, args) })
				if err == nil {
					fmt.Fprintln(stdio.Err, done)
				}
				return err
			}}
	}
	cmd := &cobra.Command{
		Use: "folders", Short: "List the folders of threads; add and delete some, put threads and files into them",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, func(fs client.Folders) error { return printFolders(cmd.Context(), fs, stdio) })
		},
	}
	serverFlags(cmd.PersistentFlags(), o)
	cmd.AddCommand(
		addFolder(with, stdio),
		folderFilesCommand(with, stdio),
		change("delete FOLDER", "Remove a folder with its files; its threads stay", 1, "Deleted the folder.",
			func(ctx context.Context, fs client.Folders, args []string) error { return fs.Delete(ctx, args[0]) }),
		change("put FOLDER THREAD", "Put a thread into a folder; it leaves the one that it was in", 2,
			"Put the thread into the folder.",
			func(ctx context.Context, fs client.Folders, args []string) error {
				return fs.Put(ctx, args[0], args[1])
			}),
		change("remove FOLDER THREAD", "Take a thread out of a folder", 2, "Took the thread out of the folder.",
			func(ctx context.Context, fs client.Folders, args []string) error {
				return fs.Remove(ctx, args[0], args[1])
			}),
	)
	return cmd
}

func addFolder(with func(*cobra.Command, func(client.Folders) error) error, stdio IO) *cobra.Command {
	var f folders.Folder
	var file string
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Make a folder and print its id", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Name = args[0]
			if file != "" {
				raw, err := os.ReadFile(file)
				if err != nil {
					return usageError("--instructions: %v", err)
				}
				f.Instructions = string(raw)
			}
			if err := (folders.Patch{Name: &f.Name, Colour: &f.Colour, Instructions: &f.Instructions}).
				Check(); err != nil {
				return usageError("%v", err)
			}
			return with(cmd, func(fs client.Folders) error {
				id, err := fs.Add(cmd.Context(), f)
				if err == nil {
					fmt.Fprintln(stdio.Out, id)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&f.Colour, "colour", "", "`#rrggbb` that shows it")
	cmd.Flags().StringVar(&file, "instructions", "", "`FILE` with what all runs of its threads are told")
	return cmd
}

func printFolders(ctx context.Context, fs client.Folders, stdio IO) error {
	list, err := fs.List(ctx, 1000, 0)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(stdio.Err, "No folders yet. Make one with: pudu folders add NAME")
		return nil
	}
	rows := make([][]string, len(list))
	for i, f := range list {
		rows[i] = []string{f.ID, inert.Line(f.Name), Count(len(f.Instructions), "byte") + " of instructions"}
	}
	return printTable(stdio.Out, rows)
}
