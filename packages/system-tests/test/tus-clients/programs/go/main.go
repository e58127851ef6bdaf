// Does the job in the first argument, a JSON object, with the file that is the second, by tusgo. Prints the outcome as JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/bdragon300/tusgo"
)

type job struct {
	Endpoint     string            `json:"endpoint"`
	Headers      map[string]string `json:"headers"`
	Name         string            `json:"name"`
	PieceSize    int64             `json:"pieceSize"`
	URL          string            `json:"url"`
	Interruption struct {
		At   int64  `json:"at"`
		Kind string `json:"kind"`
	} `json:"interruption"`
}

type outcome struct {
	Ending  string `json:"ending"`
	URL     string `json:"url"`
	Status  int    `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
}

func main() {
	var todo job
	if err := json.Unmarshal([]byte(os.Args[1]), &todo); err != nil {
		panic(err)
	}
	file, err := os.Open(os.Args[2])
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if err := json.NewEncoder(os.Stdout).Encode(run(todo, file)); err != nil {
		panic(err)
	}
}

func run(todo job, file *os.File) outcome {
	endpoint, err := url.Parse(todo.Endpoint)
	if err != nil {
		panic(err)
	}
	transport := &recorder{headers: todo.Headers}
	client := tusgo.NewClient(&http.Client{Transport: transport}, endpoint)
	upload, err := find(client, todo, file)
	if err == nil {
		err = send(client, upload, todo, file)
	}
	result := outcome{Ending: "stored", URL: absolute(endpoint, upload.Location)}
	switch {
	case err != nil:
		return outcome{"failed", result.URL, transport.status, err.Error()}
	case todo.Interruption.Kind == "stop":
		result.Ending = "stopped"
	case todo.Interruption.Kind == "terminate":
		if _, err := client.DeleteUpload(*upload); err != nil {
			return outcome{"failed", result.URL, transport.status, err.Error()}
		}
		result.Ending = "terminated"
	}
	return result
}

func absolute(endpoint *url.URL, location string) string {
	found, err := endpoint.Parse(location)
	if err != nil {
		panic(err)
	}
	return found.String()
}

func find(client *tusgo.Client, todo job, file *os.File) (*tusgo.Upload, error) {
	upload := &tusgo.Upload{}
	if todo.URL != "" {
		_, err := client.GetUpload(upload, todo.URL)
		return upload, err
	}
	info, err := file.Stat()
	if err != nil {
		panic(err)
	}
	_, err = client.CreateUpload(upload, info.Size(), false, map[string]string{"filename": todo.Name})
	return upload, err
}

// Goes on at the server's offset after each failure of the line.
func send(client *tusgo.Client, upload *tusgo.Upload, todo job, file *os.File) error {
	end := upload.RemoteSize
	if todo.Interruption.At > 0 {
		end = todo.Interruption.At
	}
	stream := tusgo.NewUploadStream(client, upload)
	stream.ChunkSize = tusgo.NoChunked
	if todo.PieceSize > 0 {
		stream.ChunkSize = todo.PieceSize
	}
	for attempt := 0; ; attempt++ {
		_, err := stream.ReadFrom(io.NewSectionReader(file, stream.Tell(), end-stream.Tell()))
		var failure *url.Error
		if err == nil || attempt == 200 || !(errors.As(err, &failure) || errors.Is(err, tusgo.ErrOffsetsNotSynced)) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
		stream.ForceClean()
		if _, err := stream.Sync(); err != nil {
			return fmt.Errorf("the offset: %w", err)
		}
	}
}

// Sends the headers of the job with each request, and keeps the last status.
type recorder struct {
	headers map[string]string
	status  int
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	for name, value := range r.headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil {
		r.status = response.StatusCode
	}
	return response, err
}
