import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.JSON;
import org.openapitools.client.api.FilesApi;
import org.openapitools.client.api.UploadsApi;
import org.openapitools.client.model.NoNamesProblem;
import org.openapitools.client.model.NoSuchFileProblem;
import org.openapitools.client.model.AlreadyExists;

/** What a program does with the Java client that openapi-generator generates. */
public class Client {
    interface Operation {
        void run() throws ApiException;
    }

    public static void main(String[] args) throws Exception {
        String baseUrl = args[0];
        String name = args[1];
        Path folder = Files.createTempDirectory("holdfast-client");
        File file = folder.resolve(args[2]).toFile();
        byte[] content = new byte[256];
        for (int index = 0; index < content.length; index++) content[index] = (byte) index;
        Files.write(file.toPath(), content);

        ApiClient client = clientOf(baseUrl, "correct horse").setTempFolderPath(folder.toString());
        FilesApi files = new FilesApi(client);
        UploadsApi uploads = new UploadsApi(client);
        FilesApi stranger = new FilesApi(clientOf(baseUrl, "wrong"));

        Map<String, Object> result = new LinkedHashMap<>();
        result.put("uploaded", uploads.uploadFile(name, null, null, null, file));
        result.put("uploadedForm", uploads.uploadForm(file, null, null, null));
        result.put("names", files.listFiles(10L, null, null, null, null).stream()
            .map(entry -> entry.getString()).toList());
        result.put("sizes", files.listFiles(null, null, null, 1, null).stream()
            .map(entry -> entry.getFileDetails().getSize()).toList());
        result.put("content", hex(files.serveFile(name, null, null, null, null, null, null, null, null)));
        result.put("part", hex(files.serveFile(name, null, null, null, null, "bytes=254-", null, null, null)));
        result.put("taken", AlreadyExists.fromJson(
            bodyOf(() -> uploads.uploadFile(name, "*", null, null, file))).getMessage());
        result.put("deleted", files.deleteFile(name, null));
        result.put("missing", NoSuchFileProblem.fromJson(
            bodyOf(() -> files.serveFile(name, null, null, null, null, null, null, null, null))).getNotFound().getMessage());
        result.put("refused", NoNamesProblem.fromJson(
            bodyOf(() -> stranger.listFiles(null, null, null, null, null))).getInvalidCredentials().getMessage());
        System.out.println(JSON.getGson().toJson(result));
    }

    static ApiClient clientOf(String baseUrl, String password) {
        ApiClient client = new ApiClient().setBasePath(baseUrl);
        ((org.openapitools.client.auth.ApiKeyAuth) client.getAuthentication("name")).setApiKey("demo");
        ((org.openapitools.client.auth.ApiKeyAuth) client.getAuthentication("password")).setApiKey(password);
        return client;
    }

    static String bodyOf(Operation operation) {
        try {
            operation.run();
        } catch (ApiException error) {
            return error.getResponseBody();
        }
        throw new IllegalStateException("There was no error");
    }

    static String hex(File file) throws Exception {
        return HexFormat.of().formatHex(Files.readAllBytes(file.toPath()));
    }
}
